#include "control/api/methods.h"

#include "croft/node/v1/feed.pb.h"
#include "croft/v1/account.pb.h"
#include "croft/v1/change.pb.h"
#include "croft/v1/farm.pb.h"
#include "croft/v1/node.pb.h"
#include "croft/v1/operation.pb.h"
#include "croft/v1/operator.pb.h"
#include "croft/v1/organization.pb.h"
#include "croft/v1/pool.pb.h"
#include "croft/v1/report.pb.h"
#include "croft/v1/resource.pb.h"
#include "croft/v1/site.pb.h"
#include "croft/v1/store.pb.h"
#include "proto/base/check.h"
#include "proto/base/error.h"

namespace croft::control::api {

MessagePtr Method::MakeRequest() const {
  const auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor->input_type());
  return MessagePtr(prototype->New());
}

std::string FormatCounts(const v1::Counts& counts) {
  std::string text;
  const google::protobuf::Reflection& reflection = *counts.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(counts, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", field->name(),
                        reflection.GetInt64(counts, field));
  }
  return text;
}

void Methods::Add(Method method) { methods_[method.descriptor] = std::move(method); }

const Method* Methods::Find(const google::protobuf::MethodDescriptor* descriptor) const {
  const auto at = methods_.find(descriptor);
  return at == methods_.end() ? nullptr : &at->second;
}

std::vector<const google::protobuf::ServiceDescriptor*> AllServices() {
  std::vector<const google::protobuf::ServiceDescriptor*> services;
  for (const google::protobuf::Descriptor* one :
       {v1::Organization::descriptor(), v1::Farm::descriptor(), v1::Node::descriptor(),
        v1::FileStore::descriptor(), v1::ApplicationPool::descriptor(), v1::Site::descriptor(),
        v1::Account::descriptor(), v1::Operator::descriptor(), v1::Operation::descriptor(),
        v1::Resource::descriptor(), v1::Change::descriptor(), v1::Event::descriptor(),
        node::v1::Hello::descriptor()}) {
    for (int i = 0; i < one->file()->service_count(); ++i) {
      services.push_back(one->file()->service(i));
    }
  }
  return services;
}

const google::protobuf::MethodDescriptor* GetMethod(const std::string& full_name) {
  const auto* found =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(full_name);
  Check(found != nullptr, "no such method in the API");
  return found;
}

}  // namespace croft::control::api
