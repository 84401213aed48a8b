// A real croft-control with a private PostgreSQL in a temporary directory, and a real client of its
// API. Ends with the test.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "croft/v1/error.pb.h"

namespace croft::tests {

class RunningControl {
 public:
  // The one that this program's tests share; a test keeps to a farm of its own.
  static RunningControl& Shared();

  RunningControl();
  ~RunningControl();

  void Start();
  void Stop();  // TERM
  void Kill();  // KILL, as a crash would
  // Runs another one on the same directory to its end; its exit code.
  int RunSecond(std::string& output);

  // The most memory its serving process has had resident, in bytes.
  std::size_t PeakMemory() const;

  const std::string& directory() const { return directory_; }
  std::string address() const;
  std::string ca() const;
  std::string token() const;
  // With a client certificate (PEM) when given.
  std::shared_ptr<grpc::Channel> Connect(const std::string& certificate = {},
                                         const std::string& key = {}) const;

 private:
  pid_t Spawn(const std::string& output) const;

  std::string directory_;
  pid_t pid_ = 0;
};

// Calls methods by name: "croft.v1.SiteService/CreateSite".
class Client {
 public:
  Client(std::shared_ptr<grpc::Channel> channel, std::string token)
      : channel_(std::move(channel)), token_(std::move(token)) {}

  grpc::Status Call(const std::string& method, const google::protobuf::Message& request,
                    google::protobuf::Message& response) const;
  // With the request in text format.
  template <typename Request, typename Response>
  grpc::Status Call(const std::string& method, const std::string& text, Response& response) const {
    Request request;
    if (!google::protobuf::TextFormat::ParseFromString(text, &request)) {
      return grpc::Status(grpc::StatusCode::INTERNAL,
                          "the test's request is no " + request.GetTypeName());
    }
    return Call(method, request, response);
  }

  void Authorize(grpc::ClientContext& context) const;
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::string token_;
};

// "t1", "t2", ...: the id of a farm that no other test of this program has.
std::string NewFarmId();

// The error detail that travels beside a status; empty if there is none.
croft::v1::ErrorDetail DetailOf(const grpc::Status& status);

std::string ReadFile(const std::string& path);

}  // namespace croft::tests
