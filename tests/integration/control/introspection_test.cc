// Health and reflection of a real control, as their standard clients ask.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/integration/control/running_control.h"

namespace croft::tests {
namespace {

// Protobuf by hand: neither service's messages are installed as a library. One length-delimited
// field.
std::string Field(int number, const std::string& text) {
  return std::string(1, static_cast<char>(number * 8 + 2)) +
         std::string(1, static_cast<char>(text.size())) + text;
}

// Calls a method with raw bytes; only the first answer counts.
std::string CallRaw(const RunningControl& control, const std::string& method,
                    const std::string& request, bool stream) {
  grpc::GenericStub stub(control.Connect());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  grpc::ByteBuffer out(&slice, 1);
  grpc::ByteBuffer in;
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  if (stream) {
    const auto call = stub.PrepareCall(&context, method, &queue);
    call->StartCall(&tag);
    queue.Next(&tag, &ok);
    call->Write(out, &tag);
    queue.Next(&tag, &ok);
    call->Read(&in, &tag);
    queue.Next(&tag, &ok);
    context.TryCancel();
    call->Finish(&status, &tag);
    queue.Next(&tag, &ok);
  } else {
    const auto call = stub.PrepareUnaryCall(&context, method, out, &queue);
    call->StartCall();
    call->Finish(&in, &status, &tag);
    queue.Next(&tag, &ok);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  std::vector<grpc::Slice> slices;
  in.Dump(&slices);
  std::string bytes;
  for (const grpc::Slice& one : slices) {
    bytes.append(reinterpret_cast<const char*>(one.begin()), one.size());
  }
  return bytes;
}

TEST(ControlIntrospection, HealthReflectionAndFilesOfAFirstStart) {
  const RunningControl& control = RunningControl::Shared();
  // grpc.health.v1.HealthCheckResponse: status (1) = SERVING (1).
  EXPECT_EQ(CallRaw(control, "/grpc.health.v1.Health/Check", "", false), std::string("\x08\x01"));
  const std::string services =
      CallRaw(control, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
              Field(7, "*"), true);
  for (const char* service :
       {"croft.v1.SiteService", "croft.v1.AccountService", "croft.v1.ReportService",
        "croft.node.v1.NodeFeed", "grpc.health.v1.Health"}) {
    EXPECT_NE(services.find(service), std::string::npos) << service;
  }
  const std::string file =
      CallRaw(control, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
              Field(4, "croft.v1.SiteService"), true);
  EXPECT_NE(file.find("ExplainUrl"), std::string::npos);

  struct stat about {};
  for (const char* secret : {"/operator.yaml", "/key"}) {
    ASSERT_EQ(::stat((control.directory() + secret).c_str(), &about), 0) << secret;
    EXPECT_EQ(about.st_mode & 0777, 0600U) << secret;
  }
  // Neither the token nor the key is anywhere else.
  EXPECT_EQ(ReadFile(control.directory() + ".log").find(control.token()), std::string::npos);
}

}  // namespace
}  // namespace croft::tests
