// gRPC's types by name only, so that headers stay free of its own.
#pragma once

namespace grpc {
class ByteBuffer;
class CallbackServerContext;
class ServerUnaryReactor;
class Status;
template <class Request, class Response>
class ServerBidiReactor;
}  // namespace grpc

namespace croft::control::api {

// Every method is served on bytes: which messages they are is read from the descriptor.
using BytesReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

}  // namespace croft::control::api
