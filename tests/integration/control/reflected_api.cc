#include "tests/integration/control/reflected_api.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <map>

namespace croft::tests {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::UnknownFieldSet;

// Of grpc.reflection.v1alpha: fields of ServerReflectionRequest and ServerReflectionResponse.
constexpr int kFileContainingSymbol = 4;
constexpr int kListServices = 7;
constexpr int kFileDescriptors = 4;
constexpr int kServices = 6;
constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

std::vector<std::string> Fields(const std::string& bytes, int number) {
  UnknownFieldSet set;
  EXPECT_TRUE(set.ParseFromString(bytes));
  std::vector<std::string> found;
  for (int i = 0; i < set.field_count(); ++i) {
    const auto& field = set.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      found.push_back(field.length_delimited());
    }
  }
  return found;
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  buffer.Dump(&slices);
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

bool IsRead(const MethodDescriptor& method) {
  return method.name().starts_with("Get") || method.name().starts_with("List") ||
         method.name().starts_with("Explain");
}

}  // namespace

std::string WireField(int number, const std::string& bytes) {
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.WriteTag(static_cast<std::uint32_t>(number) << 3 | 2);
    coded.WriteVarint32(static_cast<std::uint32_t>(bytes.size()));
    coded.WriteString(bytes);
  }
  return out;
}

std::string Reply::Field(const std::string& name) const {
  const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) {
    return "";
  }
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  if (field->is_repeated()) {
    for (int i = 0; i < message->GetReflection()->FieldSize(*message, field); ++i) {
      std::string one;
      printer.PrintFieldValueToString(*message, field, i, &one);
      text += one + "; ";
    }
    return text;
  }
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return message->GetReflection()->GetString(*message, field);
  }
  if (field->has_presence() && !message->GetReflection()->HasField(*message, field)) {
    return "";
  }
  printer.PrintFieldValueToString(*message, field, -1, &text);
  return text;
}

std::vector<std::string> Reply::Names() const {
  std::vector<std::string> names;
  const FieldDescriptor* field = message->GetDescriptor()->field(0);
  const auto& reflection = *message->GetReflection();
  for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
    const Message& one = reflection.GetRepeatedMessage(*message, field, i);
    names.push_back(
        one.GetReflection()->GetString(one, one.GetDescriptor()->FindFieldByName("name")));
  }
  return names;
}

ReflectedApi::ReflectedApi(const RunningControl& control)
    : channel_(control.Connect()), json_(control), factory_(&pool_) {
  const auto listed = Fields(Reflect(WireField(kListServices, "*")), kServices);
  if (listed.empty()) {
    ADD_FAILURE() << "reflection lists no services";
    return;
  }
  for (const std::string& service : Fields(listed.front(), 1)) {
    const std::string name = Fields(service, 1).front();
    if (name.starts_with("croft.")) {
      Load(name);
      services_.push_back(pool_.FindServiceByName(name));
      EXPECT_NE(services_.back(), nullptr) << name;
    }
  }
}

// The file that has the symbol, after those it imports.
void ReflectedApi::Load(const std::string& symbol) {
  const auto answer = Fields(Reflect(WireField(kFileContainingSymbol, symbol)), kFileDescriptors);
  ASSERT_FALSE(answer.empty()) << symbol;
  std::map<std::string, google::protobuf::FileDescriptorProto> files;
  for (const std::string& bytes : Fields(answer.front(), 1)) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    files[file.name()] = file;
  }
  // As often as it takes: a file is built when all it imports is.
  for (std::size_t round = 0; round <= files.size(); ++round) {
    for (const auto& [name, file] : files) {
      bool ready = pool_.FindFileByName(name) == nullptr;
      for (const std::string& import : file.dependency()) {
        ready = ready && pool_.FindFileByName(import) != nullptr;
      }
      if (ready) {
        ASSERT_NE(pool_.BuildFile(file), nullptr) << name;
      }
    }
  }
}

std::string ReflectedApi::Reflect(const std::string& request) const {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  grpc::ByteBuffer in;
  grpc::Status status;
  const auto call = stub.PrepareCall(&context, kReflection, &queue);
  call->StartCall(&tag);
  queue.Next(&tag, &ok);
  call->Write(ToBuffer(request), &tag);
  queue.Next(&tag, &ok);
  call->Read(&in, &tag);
  queue.Next(&tag, &ok);
  EXPECT_TRUE(ok) << "reflection gives no answer";
  context.TryCancel();
  call->Finish(&status, &tag);
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return ToString(in);
}

const MethodDescriptor* ReflectedApi::FindMethod(const std::string& full_name) const {
  const MethodDescriptor* method = pool_.FindMethodByName(full_name);
  EXPECT_NE(method, nullptr) << full_name;
  return method;
}

Reply ReflectedApi::Call(const MethodDescriptor& method, const std::string& text,
                         const std::string& token) const {
  return CallWith(method, text, "", token);
}

Reply ReflectedApi::CallWith(const MethodDescriptor& method, const std::string& text,
                             const std::string& more, const std::string& token) const {
  const std::unique_ptr<Message> request(factory_.GetPrototype(method.input_type())->New());
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, request.get()))
      << method.full_name() << ": " << text;
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  if (!token.empty()) {
    context.AddMetadata("authorization", "Bearer " + token);
  }
  grpc::CompletionQueue queue;
  grpc::ByteBuffer in;
  Reply reply;
  void* tag = nullptr;
  bool ok = false;
  const auto call =
      stub.PrepareUnaryCall(&context, "/" + method.service()->full_name() + "/" + method.name(),
                            ToBuffer(request->SerializeAsString() + more), &queue);
  call->StartCall();
  call->Finish(&in, &reply.status, &tag);
  queue.Next(&tag, &ok);
  reply.message.reset(factory_.GetPrototype(method.output_type())->New());
  if (reply.ok()) {
    EXPECT_TRUE(reply.message->ParseFromString(ToString(in))) << method.full_name();
  } else {
    EXPECT_NE(reply.detail().reason(), "")
        << method.full_name() << " fails without a detail: " << reply.status.error_code() << " "
        << reply.status.error_message();
  }
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto counts = trailers.find("croft-counts");
  if (counts != trailers.end()) {
    reply.counts.assign(counts->second.data(), counts->second.size());
  }
  if (more.empty() && (IsRead(method) || !reply.ok())) {
    CompareWithJson(method, *request, token, reply);
  }
  return reply;
}

void ReflectedApi::CompareWithJson(const MethodDescriptor& method, const Message& request,
                                   const std::string& token, const Reply& reply) const {
  SCOPED_TRACE("over JSON: " + method.full_name() + " " + request.ShortDebugString());
  const JsonReply json = json_.Call(method, request, token);
  EXPECT_EQ(json.code(), ConnectCode(reply.code())) << json.body;
  if (!reply.ok() && !json.ok()) {
    EXPECT_EQ(json.detail().ShortDebugString(), reply.detail().ShortDebugString());
  } else if (reply.ok() && json.ok()) {
    const std::unique_ptr<Message> message(reply.message->New());
    ParseJson(json.body, *message);
    EXPECT_EQ(message->ShortDebugString(), reply.message->ShortDebugString());
  }
}

}  // namespace croft::tests
