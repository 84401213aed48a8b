#include "admin-cli/list_pages.h"

#include <google/protobuf/descriptor.h>

#include "admin-cli/request.h"

namespace croft::admin_cli {
namespace {

constexpr int kPageSize = 1000;

std::vector<MessagePtr> TakePage(google::protobuf::Message& response) {
  const auto* list = response.GetDescriptor()->FindFieldByNumber(1);
  const auto* reflection = response.GetReflection();
  std::vector<MessagePtr> page;
  for (int i = 0; i < reflection->FieldSize(response, list); ++i) {
    auto* const item = reflection->MutableRepeatedMessage(&response, list, i);
    page.emplace_back(item->New());
    page.back()->GetReflection()->Swap(page.back().get(), item);
  }
  return page;
}

}  // namespace

absl::Status ListPages(ApiClient& client, const Noun& noun, const ListQuery& query,
                       const std::function<void(std::vector<MessagePtr>)>& on_page) {
  const MessagePtr request = NewRequest("List", noun);
  if (contract::Facts(noun.type).in_farm) {
    SetString(*request, "parent", "farms/" + query.farm);
  }
  SetString(*request, "filter", query.filter);
  request->GetReflection()->SetInt32(
      request.get(), request->GetDescriptor()->FindFieldByName("page_size"), kPageSize);
  const MessagePtr response = NewMessage("croft.v1.List" + std::string(noun.method) + "sResponse");
  for (;;) {
    response->Clear();
    if (auto status = client.Call(MethodOf("List", noun), *request, *response); !status.ok()) {
      return status;
    }
    const std::string token = TextOf(*response, "next_page_token");
    on_page(TakePage(*response));
    if (token.empty()) {
      return absl::OkStatus();
    }
    SetString(*request, "page_token", token);
  }
}

}  // namespace croft::admin_cli
