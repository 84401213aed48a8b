#include "admin-cli/list_pages.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>

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

MessagePtr RequestOf(const Noun& noun, const ListQuery& query) {
  MessagePtr request = NewRequest("List", noun);
  if (contract::Facts(noun.type).in_farm) {
    SetString(*request, "parent", "farms/" + query.farm);
  }
  SetString(*request, "filter", query.filter);
  SetString(*request, "order_by", query.order_by);
  SetBool(*request, "show_deleted", query.show_deleted);
  SetMask(*request, "read_mask", query.fields);
  return request;
}

}  // namespace

absl::Status ListPages(ApiClient& client, const Noun& noun, const ListQuery& query,
                       const std::function<void(std::vector<MessagePtr>)>& on_page) {
  const MessagePtr request = RequestOf(noun, query);
  const auto* page_size = request->GetDescriptor()->FindFieldByName("page_size");
  const MessagePtr response = NewMessage("croft.v1.List" + std::string(noun.method) + "sResponse");
  for (std::int64_t left = query.limit;;) {
    const std::int64_t wanted =
        query.limit > 0 ? std::min<std::int64_t>(left, kPageSize) : kPageSize;
    request->GetReflection()->SetInt32(request.get(), page_size, static_cast<int>(wanted));
    response->Clear();
    if (auto status = client.Call(MethodOf("List", noun), *request, *response); !status.ok()) {
      return status;
    }
    const std::string token = TextOf(*response, "next_page_token");
    std::vector<MessagePtr> page = TakePage(*response);
    left -= static_cast<std::int64_t>(page.size());
    on_page(std::move(page));
    if (token.empty() || (query.limit > 0 && left <= 0)) {
      return absl::OkStatus();
    }
    SetString(*request, "page_token", token);
  }
}

}  // namespace croft::admin_cli
