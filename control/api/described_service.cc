#include "control/api/described_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string>
#include <vector>

#include "control/api/grpc_stream.h"
#include "control/api/unary_call.h"
#include "proto/base/check.h"

namespace croft::control::api {
namespace {

using google::protobuf::MethodDescriptor;
using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

// What protoc's plugin generates for the callback API on raw bytes, with the descriptor read at run
// time instead.
class DescribedService final : public grpc::Service {
 public:
  DescribedService(const google::protobuf::ServiceDescriptor& descriptor,
                   const OwnStreams& own_streams, const Services& services)
      : services_(services) {
    paths_.reserve(static_cast<std::size_t>(descriptor.method_count()));  // gRPC keeps the pointers
    for (int i = 0; i < descriptor.method_count(); ++i) {
      const MethodDescriptor* method = descriptor.method(i);
      const auto own = own_streams.find(method);
      paths_.push_back("/" + descriptor.full_name() + "/" + method->name());
      if (own != own_streams.end()) {
        AddStream(i, own->second);
      } else if (const StreamMethod* stream = services.streams.Find(method)) {
        AddStream(i, [stream](const auto& context, const Services& parts) {
          return StartGrpcStream(context, *stream, parts);
        });
      } else {
        AddUnary(i, method);
      }
    }
  }

 private:
  void AddUnary(int index, const MethodDescriptor* descriptor) {
    using Unary = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
    const Method* method = services_.methods.Find(descriptor);
    Check(method != nullptr, "a method of the API has no handler");
    AddMethod(
        std::make_unique<RpcServiceMethod>(paths_.back().c_str(), RpcMethod::NORMAL_RPC, nullptr)
            .release());
    auto handler = std::make_unique<Unary>([this, method](grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
      return StartUnaryCall(*context, {.request = *request, .response = *response}, *method,
                            services_);
    });
    MarkMethodRawCallback(index, handler.release());
  }

  void AddStream(int index, const OpenStream& open) {
    using Stream = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
    AddMethod(std::make_unique<RpcServiceMethod>(paths_.back().c_str(), RpcMethod::BIDI_STREAMING,
                                                 nullptr)
                  .release());
    auto handler = std::make_unique<Stream>(
        [this, open](grpc::CallbackServerContext* context) { return open(*context, services_); });
    MarkMethodRawCallback(index, handler.release());
  }

  const Services services_;
  std::vector<std::string> paths_;
};

}  // namespace

std::shared_ptr<grpc::Service> MakeService(const google::protobuf::ServiceDescriptor& descriptor,
                                           const OwnStreams& own_streams,
                                           const Services& services) {
  return std::make_shared<DescribedService>(descriptor, own_streams, services);
}

}  // namespace croft::control::api
