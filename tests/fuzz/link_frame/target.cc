// A datagram as it comes out of a control channel, read as each message that a peer may send.
#include <sys/socket.h>

#include "croft/node/v1/channel.pb.h"
#include "croft/node/v1/launcher.pb.h"
#include "node/link/channel.h"
#include "proto/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croft::node;
  static auto pair = link::Channel::MakePair();
  static link::Channel channel(std::move(pair->second));
  if (::send(pair->first.get(), data, size, 0) < 0) {
    return 0;
  }
  const auto received = channel.Receive();
  if (!received.ok()) {
    croft::Check(size == 0 || size > link::kMessageBytesMax, "only size is a reason to refuse");
    return 0;
  }
  croft::Check(received->has_value() && (*received)->bytes.size() == size, "arrives whole");
  v1::LauncherRequest request;
  v1::LauncherMessage reply;
  v1::WorkerToAgent from_worker;
  v1::ListenerToAgent from_listener;
  for (google::protobuf::MessageLite* message :
       {static_cast<google::protobuf::MessageLite*>(&request),
        static_cast<google::protobuf::MessageLite*>(&reply),
        static_cast<google::protobuf::MessageLite*>(&from_worker),
        static_cast<google::protobuf::MessageLite*>(&from_listener)}) {
    if (link::ParseMessage((*received)->bytes, *message).ok()) {
      croft::Check(message->ByteSizeLong() <= 4 * size, "a parsed message is of its input's size");
    }
  }
  return 0;
}
