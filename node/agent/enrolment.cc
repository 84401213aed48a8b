#include "node/agent/enrolment.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include "proto/base/error.h"
#include "proto/base/log.h"

namespace croft::node::agent {
namespace {

absl::StatusOr<std::string> ReadText(const std::string& path, std::string_view what) {
  std::ifstream file(path);
  if (!file) {
    return Error(absl::StatusCode::kNotFound, "{} {} cannot be read", what, path);
  }
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

// Who reads the token before the node has used it up can enrol in its place. Its group may be the
// agent's.
void WarnIfOpen(const std::string& path) {
  struct stat about {};
  if (!path.empty() && ::stat(path.c_str(), &about) == 0 && (about.st_mode & S_IROTH) != 0) {
    log::Warn("agent", "join token can be read by every user of this machine; run: chmod o= FILE",
              {{"path", path}, {"mode", fmt::format("{:04o}", about.st_mode & 07777)}});
  }
}

}  // namespace

Enrolment::Enrolment(boost::asio::io_context& loop, const IdentityStore& store, Options options,
                     std::function<void(Identity)> on_enrolled)
    : loop_(loop),
      store_(store),
      options_(std::move(options)),
      on_enrolled_(std::move(on_enrolled)),
      timer_(loop) {}

void Enrolment::Start() {
  if (UseStored()) {
    return;
  }
  WarnIfOpen(options_.join_token_file);
  Try();
}

bool Enrolment::UseStored() {
  absl::StatusOr<std::optional<Identity>> identity = store_.Load();
  std::string why;
  if (!identity.ok()) {
    why = identity.status().ToString();
  } else if (!identity->has_value()) {
    return false;
  } else if ((*identity)->expires > std::chrono::system_clock::now()) {
    on_enrolled_(*std::move(*identity));
    return true;
  } else {
    why = "the certificate has expired by this machine's clock; set the clock if it is wrong, else "
          "give the node a new join token";
  }
  if (why != last_stored_error_) {
    log::Error("agent", "node identity cannot be used; the node serves on", {{"err", why}});
    last_stored_error_ = std::move(why);
  }
  return false;
}

void Enrolment::Try() {
  const auto ca = ReadText(options_.ca_file, "ca_file");
  if (!ca.ok()) {
    RetryLater(ca.status());
    return;
  }
  const auto key = MakeKeyRequest();
  if (!key.ok()) {
    RetryLater(key.status());
    return;
  }
  const auto request = MakeRequest(*key);
  if (!request.ok()) {
    RetryLater(request.status());
    return;
  }
  Enroll(loop_, {.address = options_.control, .ca = *ca}, *request,
         [this, key = *key, ca = *ca](absl::StatusOr<v1::EnrollResponse> answer) {
           OnAnswer(key, ca, std::move(answer));
         });
}

absl::StatusOr<v1::EnrollRequest> Enrolment::MakeRequest(const KeyRequest& key) const {
  if (options_.join_token_file.empty()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "the node has no certificate and node.yaml names no join_token_file; make a token "
                 "with \"croft enroll node\"");
  }
  const auto token = ReadText(options_.join_token_file, "join_token_file");
  if (!token.ok()) {
    return token.status();
  }
  v1::EnrollRequest request;
  request.set_token(*token);
  request.set_certificate_request(key.certificate_request);
  return request;
}

void Enrolment::OnAnswer(const KeyRequest& key, const std::string& ca,
                         absl::StatusOr<v1::EnrollResponse> answer) {
  if (!answer.ok()) {
    RetryLater(answer.status());
    return;
  }
  Identity identity{.key = key.key,
                    .certificate = answer->certificate(),
                    .ca = answer->ca().empty() ? ca : answer->ca(),
                    .node = answer->node(),
                    .expires = {}};
  // The token is used up: what cannot be stored now is kept in memory and serves until the next
  // start.
  if (const absl::Status status = store_.Store(identity); !status.ok()) {
    log::Error("agent", "node identity cannot be stored", {{"err", status.ToString()}});
  } else if (auto stored = store_.Load(); stored.ok() && stored->has_value()) {
    identity = **std::move(stored);  // with its end
  }
  log::Info("agent", "node enrolled", {{"node", identity.node}});
  on_enrolled_(std::move(identity));
}

void Enrolment::RetryLater(const absl::Status& status) {
  if (std::string text = status.ToString(); text != last_error_) {
    log::Warn("agent", "node cannot enrol yet", {{"err", text}});
    last_error_ = std::move(text);
  }
  timer_.expires_after(backoff_.Next());
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !UseStored()) {  // the clock may have been set right
      Try();
    }
  });
}

}  // namespace croft::node::agent
