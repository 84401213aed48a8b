#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/field_mask_util.h>

#include "proto/base/error.h"
#include "proto/contract/field_path.h"
#include "proto/contract/field_rules.h"
#include "proto/contract/text_rules.h"

namespace croft::contract {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::util::FieldMaskUtil;

absl::Status CheckMaskPath(const Message& message, std::string_view path) {
  const Descriptor* type = message.GetDescriptor();
  const FieldDescriptor* above = nullptr;
  for (const std::string_view segment : Split(path, '.')) {
    const bool can_enter = above == nullptr || !above->is_repeated();
    above = can_enter && type != nullptr ? type->FindFieldByName(std::string(segment)) : nullptr;
    if (above == nullptr) {
      const std::string nearest = NearestPath(message, path);
      return Error(absl::StatusCode::kInvalidArgument, "update_mask: unknown field \"{}\"{}",
                   Shorten(path, 100),
                   nearest.empty() ? "" : fmt::format("; the nearest is \"{}\"", nearest));
    }
    if (RuleOf(*above).output_only()) {
      return Error(absl::StatusCode::kInvalidArgument,
                   "update_mask: \"{}\" is set by Croft and cannot be changed", Shorten(path, 100));
    }
    type = above->message_type();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyMask(const FieldMask& mask, const Message& from, Message& to) {
  FieldMask whole;
  for (const std::string& path : mask.paths()) {
    if (path == "*") {
      const Descriptor& type = *from.GetDescriptor();
      for (int i = 0; i < type.field_count(); ++i) {
        if (!RuleOf(*type.field(i)).output_only()) {
          whole.add_paths(type.field(i)->name());
        }
      }
      continue;
    }
    if (const absl::Status status = CheckMaskPath(from, path); !status.ok()) {
      return status;
    }
    whole.add_paths(path);
  }
  FieldMaskUtil::MergeOptions options;
  options.set_replace_message_fields(true);
  options.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(from, whole, options, &to);
  return absl::OkStatus();
}

}  // namespace croft::contract
