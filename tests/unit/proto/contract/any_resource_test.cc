#include "proto/contract/any_resource.h"

#include <gtest/gtest.h>

namespace croft::contract {
namespace {

TEST(AnyResourceTest, EveryTypeComesBackAsItWentIn) {
  const google::protobuf::Descriptor& type = *v1::Resource::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const std::unique_ptr<google::protobuf::Message> resource(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(type.field(i)->message_type())
            ->New());
    resource->GetReflection()->SetString(
        resource.get(), resource->GetDescriptor()->FindFieldByName("name"), type.field(i)->name());
    v1::Resource any = Wrap(*resource);
    ASSERT_NE(Unwrap(any), nullptr);
    EXPECT_EQ(Unwrap(std::as_const(any))->SerializeAsString(), resource->SerializeAsString());
    EXPECT_EQ(any.resource_case(), type.field(i)->number());
  }
}

TEST(AnyResourceTest, NothingIsNothing) { EXPECT_EQ(Unwrap(v1::Resource()), nullptr); }

}  // namespace
}  // namespace croft::contract
