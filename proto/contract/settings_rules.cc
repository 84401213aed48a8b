#include "proto/contract/settings_rules.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "proto/base/check.h"

namespace croft::contract {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::int64_t kTwoMinutesMs = 120'000;

v1::Settings BuildDefaults() {
  v1::Settings settings;
  auto& documents = *settings.mutable_default_documents();
  documents.set_enabled(true);
  for (const char* name :
       {"index.html", "index.htm", "default.html", "default.htm", "Default.htm"}) {
    documents.mutable_names()->add_values(name);
  }
  auto& files = *settings.mutable_static_files();
  files.mutable_mime_types();
  files.set_unknown_mime_type("application/octet-stream");
  for (const char* pattern : {".git", ".hg", ".svn", ".ht*", ".env", ".env.*", ".DS_Store"}) {
    files.mutable_hidden_segments()->add_values(pattern);
  }
  files.set_etag(true);
  files.set_cache_max_age(0);
  auto& limits = *settings.mutable_limits();
  limits.set_max_body(30'000'000);
  limits.set_max_url(4096);
  limits.set_max_query(2048);
  limits.set_max_url_segments(255);
  auto& timeouts = *settings.mutable_timeouts();
  timeouts.set_idle(kTwoMinutesMs);
  timeouts.set_header(kTwoMinutesMs);
  timeouts.set_body(kTwoMinutesMs);
  timeouts.set_queue(kTwoMinutesMs);
  timeouts.set_send(kTwoMinutesMs);
  settings.mutable_log()->set_enabled(true);
  return settings;
}

// A field that is inherited as a whole: a scalar, a list or a map.
bool IsValue(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
         field.message_type() == v1::StringList::descriptor() ||
         field.message_type() == v1::StringMap::descriptor();
}

void CopyScalar(const Message& from, const FieldDescriptor& field, Message& to) {
  const Reflection& reflection = *from.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&to, &field, reflection.GetInt32(from, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.SetInt64(&to, &field, reflection.GetInt64(from, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(&to, &field, reflection.GetUInt32(from, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(&to, &field, reflection.GetUInt64(from, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&to, &field, reflection.GetDouble(from, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.SetFloat(&to, &field, reflection.GetFloat(from, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&to, &field, reflection.GetBool(from, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnumValue(&to, &field, reflection.GetEnumValue(from, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(&to, &field, reflection.GetString(from, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  Check(false, "CopyScalar: a settings field is a message");
}

void Merge(const Message& over, Message& base) {
  const Reflection& reflection = *over.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(over, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      CopyScalar(over, *field, base);
      continue;
    }
    Message& into = *reflection.MutableMessage(&base, field);
    const Message& from = reflection.GetMessage(over, field);
    if (IsValue(*field)) {
      into.CopyFrom(from);
    } else {
      Merge(from, into);
    }
  }
}

}  // namespace

const v1::Settings& DefaultSettings() {
  static const v1::Settings settings = BuildDefaults();
  return settings;
}

void MergeSettings(const v1::Settings& over, v1::Settings& base) { Merge(over, base); }

v1::Settings EffectiveSettings(std::span<const SettingsLayer> layers) {
  v1::Settings effective = DefaultSettings();
  for (const SettingsLayer& layer : layers) {
    if (layer.settings != nullptr) {
      MergeSettings(*layer.settings, effective);
    }
  }
  return effective;
}

}  // namespace croft::contract
