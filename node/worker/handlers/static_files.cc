#include "node/worker/handlers/static_files.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "node/worker/filters/byte_ranges.h"
#include "node/worker/handlers/error_pages.h"
#include "node/worker/handlers/site_settings.h"
#include "node/worker/http/etag.h"
#include "node/worker/http/http_date.h"
#include "node/worker/http/preconditions.h"
#include "node/worker/http/substatus.h"
#include "node/worker/store/store.h"
#include "proto/contract/url_path.h"

namespace croft::node::worker::handlers {
namespace {

using counters::WorkerCounter;
using http::Method;
using http::Request;
using http::Response;
using store::ContentPath;
using store::OpenAnswer;
using Outcome = store::OpenAnswer::Outcome;

// Read together with a slow open, so that a small file takes one trip to the store's threads.
constexpr std::size_t kReadAheadBytes = 64 * 1024;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

Response ErrorFor(const Request& request, int status, int substatus = http::kNoSubstatus) {
  return MakeErrorPage(status, substatus, request.method);
}

// Errors that say "there is no such file", among them leaving the root through a symlink.
bool IsAbsent(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP ||
         error == EXDEV || error == ENXIO || error == ENODEV;
}

// REQUIRES: `answer` was not kOpened.
Response AnswerFailure(const Request& request, const OpenAnswer& answer) {
  if (answer.outcome == Outcome::kBusy) {
    return ErrorFor(request, 503, http::kStoreBusy);
  }
  if (answer.outcome == Outcome::kStoreMissing) {
    return ErrorFor(request, 503, http::kStoreMissing);
  }
  if (IsAbsent(answer.error)) {
    return ErrorFor(request, 404);
  }
  switch (answer.error) {
    case EACCES:
    case EPERM:
      return ErrorFor(request, 403, http::kReadForbidden);
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorFor(request, 503, http::kOutOfDescriptors);
    case ENOTCONN:  // what a network file system says when its other end is gone
    case ESTALE:
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
      request.site->store->counters().Add(counters::StoreCounter::kErrorsTotal);
      return ErrorFor(request, 503, http::kStoreError);
    default:
      request.site->store->counters().Add(counters::StoreCounter::kErrorsTotal);
      return ErrorFor(request, 500, http::kStoreError);
  }
}

bool IsConditional(const http::ConditionalHeaders& headers) {
  return !headers.if_match.empty() || !headers.if_none_match.empty() ||
         !headers.if_modified_since.empty() || !headers.if_unmodified_since.empty();
}

store::OpenRequest FileAt(ContentPath path, const Request& request) {
  const bool whole =
      request.method == Method::kGet && request.range.empty() && !IsConditional(request.conditions);
  store::OpenRequest open;
  open.path = std::move(path);
  open.read_ahead = whole ? kReadAheadBytes : 0;
  return open;
}

store::OpenRequest DirectoryAt(ContentPath path) {
  store::OpenRequest open;
  open.path = std::move(path);
  open.directory_only = true;
  return open;
}

ContentPath Below(const ContentPath& directory, const std::string& name) {
  ContentPath path = directory;
  if (!path.below.empty()) {
    path.below += '/';
  }
  path.below += name;
  return path;
}

// What is said about the file itself, in 200, 206 and 304 alike.
struct FileDescription {
  std::string etag;
  std::int64_t last_modified = 0;
  bool strong = true;
};

FileDescription Describe(const struct stat& facts, const Request& request, const Clock& clock) {
  const std::int64_t now_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock.Now().time_since_epoch()).count();
  const http::FileState state{
      .size = facts.st_size,
      .mtime_ns = facts.st_mtim.tv_sec * kNanosPerSecond + facts.st_mtim.tv_nsec,
      .inode = facts.st_ino};
  FileDescription description;
  description.strong = http::IsSettled(state, now_ns);
  description.last_modified =
      std::min<std::int64_t>(facts.st_mtim.tv_sec, now_ns / kNanosPerSecond);
  if (request.site->etag) {
    description.etag = http::BuildEtag(state, now_ns);
  }
  return description;
}

void AddDescription(FileDescription description, const SiteSettings& site, Response& response) {
  if (!description.etag.empty()) {
    response.Add("etag", std::move(description.etag));
  }
  response.Add("last-modified", http::FormatHttpDate(description.last_modified));
  if (!site.cache_control.empty()) {
    response.Add("cache-control", site.cache_control);
  }
}

Response NotModified(FileDescription description, const SiteSettings& site) {
  Response response;
  response.status = 304;
  AddDescription(std::move(description), site, response);
  return response;
}

// REQUIRES: `answer` is kOpened and a regular file. `name` ends in the file's name.
Response ServeFile(const Request& request, OpenAnswer answer, std::string_view name,
                   const Context& context) {
  const SiteSettings& site = *request.site;
  std::string_view type = http::FindMimeType(name, site.mime_types);
  if (type.empty()) {
    type = site.unknown_mime_type;
  }
  if (type.empty()) {
    return ErrorFor(request, 404, http::kMimeTypeUnknown);
  }
  FileDescription description = Describe(answer.facts, request, context.clock);
  const http::Validators validators{.etag = description.etag,
                                    .last_modified = description.last_modified,
                                    .strong = description.strong};
  switch (http::Evaluate(request.conditions, validators)) {
    case http::Precondition::kNotModified:
      return NotModified(std::move(description), site);
    case http::Precondition::kFailed:
      return ErrorFor(request, 412);
    case http::Precondition::kProceed:
      break;
  }
  const bool ranges = request.method == Method::kGet && !request.range.empty() &&
                      http::RangeApplies(request.conditions, validators);
  const std::int64_t size = answer.facts.st_size;
  Response response;
  response.headers.reserve(6);
  response.Add("content-type", std::string(type));
  response.content_length = size;
  AddDescription(std::move(description), site, response);
  response.Add("accept-ranges", "bytes");
  if (request.method == Method::kGet && size > 0) {
    response.body.file = std::move(answer.file);
    response.body.file_start = std::move(answer.start);
    response.body.pieces.push_back({.text = {}, .offset = 0, .length = size});
  }
  if (ranges) {
    filters::ApplyRanges(request.range, size, response);
  }
  return response;
}

Response RedirectToSlash(const Request& request) {
  return MakeRedirect(contract::EncodeUrlPath(request.path) + "/" + request.query, request.method);
}

// For a URL that ends in "/".
Task<Response> ServeDirectory(const Request& request, const ContentPath& directory,
                              const Context& context) {
  const SiteSettings& site = *request.site;
  for (const std::string& name : site.default_documents) {
    if (site.hidden.HidesSegment(name)) {
      continue;
    }
    store::OpenRequest open = FileAt(Below(directory, name), request);
    OpenAnswer answer = co_await site.store->Open(std::move(open), context.waits);
    if (answer.outcome == Outcome::kOpened && S_ISREG(answer.facts.st_mode)) {
      co_return ServeFile(request, std::move(answer), name, context);
    }
    const bool next = answer.outcome == Outcome::kOpened ||
                      (answer.outcome == Outcome::kFailed && IsAbsent(answer.error));
    if (!next) {
      co_return AnswerFailure(request, answer);
    }
  }
  store::OpenRequest open = DirectoryAt(directory);
  const OpenAnswer answer = co_await site.store->Open(std::move(open), context.waits);
  if (answer.outcome == Outcome::kOpened) {
    co_return ErrorFor(request, 403, http::kListingDenied);
  }
  co_return AnswerFailure(request, answer);
}

// For a URL that does not end in "/".
Task<Response> ServePath(const Request& request, const ContentPath& path, const Context& context) {
  const SiteSettings& site = *request.site;
  store::OpenRequest open = FileAt(path, request);
  OpenAnswer answer = co_await site.store->Open(std::move(open), context.waits);
  if (answer.outcome == Outcome::kOpened) {
    if (S_ISREG(answer.facts.st_mode)) {
      co_return ServeFile(request, std::move(answer), path.below, context);
    }
    co_return S_ISDIR(answer.facts.st_mode) ? RedirectToSlash(request) : ErrorFor(request, 404);
  }
  // A directory that may be passed through but not read, as homes often are, is still a directory.
  if (answer.outcome == Outcome::kFailed && answer.error == EACCES) {
    store::OpenRequest again = DirectoryAt(path);
    const OpenAnswer directory = co_await site.store->Open(std::move(again), context.waits);
    if (directory.outcome == Outcome::kOpened) {
      co_return RedirectToSlash(request);
    }
  }
  co_return AnswerFailure(request, answer);
}

}  // namespace

Task<Response> ServeStaticFile(const Request& request, const Context& context) {
  if (request.method == Method::kOther) {
    co_return ErrorFor(request, 405);
  }
  const std::optional<ContentPath> path =
      store::MakeContentPath(request.root, request.path, request.strip);
  if (!path.has_value()) {
    co_return ErrorFor(request, 400);
  }
  if (request.site->hidden.Hides(path->below)) {
    co_return ErrorFor(request, 404, http::kHiddenSegment);
  }
  if (request.path.ends_with('/')) {
    co_return co_await ServeDirectory(request, *path, context);
  }
  co_return co_await ServePath(request, *path, context);
}

}  // namespace croft::node::worker::handlers
