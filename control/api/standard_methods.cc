#include "control/api/standard_methods.h"

#include <google/protobuf/text_format.h>

#include <array>
#include <string_view>
#include <utility>

#include "control/domain/resource_message.h"
#include "control/identity/tokens.h"
#include "proto/base/error.h"
#include "proto/contract/field_path.h"

namespace croft::control::api {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr auto kVerbs =
    std::to_array<std::pair<std::string_view, Verb>>({{"Create", Verb::kCreate},
                                                      {"Get", Verb::kGet},
                                                      {"List", Verb::kList},
                                                      {"Update", Verb::kUpdate},
                                                      {"Delete", Verb::kDelete},
                                                      {"Undelete", Verb::kUndelete}});

std::optional<contract::ResourceType> FindType(const Descriptor& message) {
  for (const contract::ResourceTypeFacts& facts : contract::AllResourceTypes()) {
    if (facts.message == message.full_name()) {
      return facts.type;
    }
  }
  return std::nullopt;
}

// The field of a list response that holds the resources; null if there is none.
const FieldDescriptor* FindResources(const Descriptor& response) {
  const FieldDescriptor* first = response.field_count() > 0 ? response.field(0) : nullptr;
  const bool lists = first != nullptr && first->is_repeated() && first->message_type() != nullptr;
  return lists && FindType(*first->message_type()).has_value() ? first : nullptr;
}

// The field of a create or update request that holds the resource.
const FieldDescriptor* FindResource(const Descriptor& request, contract::ResourceType type) {
  for (int i = 0; i < request.field_count(); ++i) {
    const FieldDescriptor* field = request.field(i);
    if (field->message_type() != nullptr && FindType(*field->message_type()) == type) {
      return field;
    }
  }
  return nullptr;
}

// A request read by field name; a field that the message lacks reads as empty.
class Request {
 public:
  explicit Request(const Message& message)
      : message_(message),
        descriptor_(*message.GetDescriptor()),
        reflection_(*message.GetReflection()) {}

  std::string Text(const std::string& name) const {
    const FieldDescriptor* field = descriptor_.FindFieldByName(name);
    return field == nullptr ? std::string() : reflection_.GetString(message_, field);
  }
  int Number(const std::string& name) const {
    const FieldDescriptor* field = descriptor_.FindFieldByName(name);
    return field == nullptr ? 0 : reflection_.GetInt32(message_, field);
  }
  std::int64_t LongNumber(const std::string& name) const {
    const FieldDescriptor* field = descriptor_.FindFieldByName(name);
    return field == nullptr ? 0 : reflection_.GetInt64(message_, field);
  }
  bool Flag(const std::string& name) const {
    const FieldDescriptor* field = descriptor_.FindFieldByName(name);
    return field != nullptr && reflection_.GetBool(message_, field);
  }
  FieldMask Mask(const std::string& name) const {
    const FieldDescriptor* field = descriptor_.FindFieldByName(name);
    return field == nullptr
               ? FieldMask()
               : static_cast<const FieldMask&>(reflection_.GetMessage(message_, field));
  }
  const Message& Resource(contract::ResourceType type) const {
    return reflection_.GetMessage(message_, FindResource(descriptor_, type));
  }
  // The field that names the new resource stands beside it: "site" and "site_id".
  std::string Id(contract::ResourceType type) const {
    return Text(FindResource(descriptor_, type)->name() + "_id");
  }
  domain::WriteOptions Options() const {
    domain::WriteOptions options{.validate_only = Flag("validate_only"),
                                 .request_id = Text("request_id"),
                                 .request_fingerprint = {},
                                 .reason = Text("reason"),
                                 .field_manager = Text("field_manager"),
                                 .force = Flag("force"),
                                 .if_absent = Flag("if_absent"),
                                 .allow_missing = Flag("allow_missing")};
    if (!options.request_id.empty()) {
      options.request_fingerprint = Fingerprint(message_);
    }
    return options;
  }

 private:
  const Message& message_;
  const Descriptor& descriptor_;
  const google::protobuf::Reflection& reflection_;
};

// What one standard method needs; copied into its handler.
struct Standard {
  StandardMethod method;
  const MethodDescriptor* descriptor = nullptr;
  domain::Resources* resources = nullptr;
  Decorate decorate;
};

// Fills in what isn't stored, then leaves what the mask names.
absl::Status Finish(const Standard& standard, const FieldMask& mask,
                    std::span<const MessagePtr> resources) {
  if (standard.decorate) {
    if (absl::Status status = standard.decorate(resources); !status.ok()) {
      return status;
    }
  }
  for (const MessagePtr& resource : resources) {
    contract::ApplyReadMask(mask, *resource);
  }
  return absl::OkStatus();
}

absl::StatusOr<FieldMask> ReadMask(const Standard& standard, const Request& request) {
  FieldMask mask = request.Mask("read_mask");
  const absl::Status status =
      contract::CheckReadMask(mask, *domain::NewMessage(standard.method.type));
  return status.ok() ? absl::StatusOr<FieldMask>(std::move(mask)) : status;
}

absl::StatusOr<MessagePtr> List(const Standard& standard, const domain::Caller& caller,
                                const Request& request) {
  const auto mask = ReadMask(standard, request);
  if (!mask.ok()) {
    return mask.status();
  }
  auto page = standard.resources->List(caller, {.type = standard.method.type,
                                                .parent = request.Text("parent"),
                                                .page_size = request.Number("page_size"),
                                                .page_token = request.Text("page_token"),
                                                .filter = request.Text("filter"),
                                                .order_by = request.Text("order_by"),
                                                .show_deleted = request.Flag("show_deleted")});
  if (!page.ok()) {
    return page.status();
  }
  if (absl::Status status = Finish(standard, *mask, page->resources); !status.ok()) {
    return status;
  }
  const Descriptor& type = *standard.descriptor->output_type();
  MessagePtr response(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  const google::protobuf::Reflection& reflection = *response->GetReflection();
  for (MessagePtr& resource : page->resources) {
    reflection.AddAllocatedMessage(response.get(), FindResources(type), resource.release());
  }
  reflection.SetString(response.get(), type.FindFieldByName("next_page_token"),
                       std::move(page->next_page_token));
  return response;
}

absl::StatusOr<MessagePtr> Get(const Standard& standard, const domain::Caller& caller,
                               const Request& request) {
  const auto mask = ReadMask(standard, request);
  if (!mask.ok()) {
    return mask.status();
  }
  const bool is_platform = standard.method.type == contract::ResourceType::kPlatform;
  const std::string name = request.Text("name");
  auto resource = standard.resources->Get(caller, standard.method.type,
                                          is_platform && name.empty() ? "platform" : name,
                                          request.Flag("show_deleted"));
  if (resource.ok()) {
    if (absl::Status status = Finish(standard, *mask, {&*resource, 1}); !status.ok()) {
      return status;
    }
  }
  return resource;
}

absl::StatusOr<CallResult> AsRead(absl::StatusOr<MessagePtr> message) {
  if (!message.ok()) {
    return message.status();
  }
  return CallResult{.message = *std::move(message)};
}

absl::StatusOr<CallResult> AsWrite(absl::StatusOr<domain::Written> written) {
  if (!written.ok()) {
    return written.status();
  }
  return CallResult{.message = std::move(written->answer), .counts = std::move(written->counts)};
}

absl::StatusOr<CallResult> Call(const Standard& standard, const domain::Caller& caller,
                                const Request& request) {
  domain::Resources& resources = *standard.resources;
  const contract::ResourceType type = standard.method.type;
  switch (standard.method.verb) {
    case Verb::kCreate:
      return AsWrite(resources.Create(caller, request.Text("parent"), request.Id(type),
                                      request.Resource(type), request.Options()));
    case Verb::kGet:
      return AsRead(Get(standard, caller, request));
    case Verb::kList:
      return AsRead(List(standard, caller, request));
    case Verb::kUpdate:
      return AsWrite(resources.Update(caller, request.Resource(type), request.Mask("update_mask"),
                                      request.Options()));
    case Verb::kDelete:
      return AsWrite(resources.Delete(caller, type, request.Text("name"), request.Text("etag"),
                                      request.Options()));
    case Verb::kUndelete:
      return AsWrite(resources.Undelete(caller, type, request.Text("name"),
                                        request.LongNumber("uid"), request.Options()));
  }
  return Error(absl::StatusCode::kUnimplemented, "no such method");
}

}  // namespace

std::optional<StandardMethod> FindStandardMethod(const MethodDescriptor& descriptor) {
  for (const auto& [prefix, verb] : kVerbs) {
    if (!std::string_view(descriptor.name()).starts_with(prefix)) {
      continue;
    }
    const FieldDescriptor* listed =
        verb == Verb::kList ? FindResources(*descriptor.output_type()) : nullptr;
    const auto type =
        FindType(listed != nullptr ? *listed->message_type() : *descriptor.output_type());
    const bool fits = type.has_value() && (verb != Verb::kList || listed != nullptr);
    return fits ? std::optional(StandardMethod{.verb = verb, .type = *type}) : std::nullopt;
  }
  return std::nullopt;
}

void AddStandardMethods(const google::protobuf::ServiceDescriptor& service,
                        domain::Resources& resources, const Decorators& decorators,
                        Methods& methods) {
  for (int i = 0; i < service.method_count(); ++i) {
    const auto found = FindStandardMethod(*service.method(i));
    if (!found.has_value()) {
      continue;
    }
    const auto decorate = decorators.find(found->type);
    const Standard standard{
        .method = *found,
        .descriptor = service.method(i),
        .resources = &resources,
        .decorate = decorate == decorators.end() ? Decorate() : decorate->second};
    methods.Add({.descriptor = service.method(i),
                 .access = Access::kOperator,
                 .handler = [standard](const domain::Caller& caller, const Message& request,
                                       const Answer& answer) {
                   answer(Call(standard, caller, Request(request)));
                 }});
  }
}

std::string Fingerprint(const Message& request) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(request, &text);  // fields in number order, maps sorted
  return identity::HashToken(request.GetDescriptor()->full_name() + " " + text);
}

}  // namespace croft::control::api
