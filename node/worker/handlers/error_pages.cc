#include "node/worker/handlers/error_pages.h"

#include <fmt/format.h>

#include <utility>

namespace croft::node::worker::handlers {
namespace {

struct Words {
  int status;
  std::string_view phrase;
  std::string_view explanation;
};

constexpr Words kWords[] = {
    {301, "Moved Permanently", "The directory's address ends in a slash."},
    {400, "Bad Request", "The server could not understand the request."},
    {403, "Forbidden", "You are not allowed to see this page."},
    {404, "Not Found", "There is no such page here."},
    {405, "Method Not Allowed", "Files can only be read."},
    {412, "Precondition Failed", "The page is not in the state the request asked for."},
    {416, "Range Not Satisfiable", "The file is shorter than the range asked for."},
    {431, "Request Header Fields Too Large", "The request's header is too large."},
    {500, "Internal Server Error", "The server could not read the page."},
    {503, "Service Unavailable", "The page cannot be read right now. Please try again soon."},
};

const Words& FindWords(int status) {
  static constexpr Words kOther = {0, "Error", "The request failed."};
  for (const Words& words : kWords) {
    if (words.status == status) {
      return words;
    }
  }
  return kOther;
}

void SetPage(http::Response& response, http::Method method) {
  const Words& words = FindWords(response.status);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><title>{0} {1}</title></head>\n"
      "<body><h1>{0} {1}</h1><p>{2}</p></body></html>\n",
      response.status, words.phrase, words.explanation);
  response.Add("content-type", "text/html; charset=utf-8");
  response.content_length = static_cast<std::int64_t>(page.size());
  if (method != http::Method::kHead) {
    response.body.pieces.push_back({.text = std::move(page)});
  }
}

}  // namespace

std::string_view ReasonPhrase(int status) { return FindWords(status).phrase; }

http::Response MakeErrorPage(int status, int substatus, http::Method method) {
  http::Response response;
  response.status = status;
  response.substatus = substatus;
  if (status == 405) {
    response.Add("allow", "GET, HEAD");
  }
  if (status == 503) {
    response.Add("retry-after", "5");
  }
  SetPage(response, method);
  return response;
}

http::Response MakeRedirect(std::string location, http::Method method) {
  http::Response response;
  response.status = 301;
  response.Add("location", std::move(location));
  SetPage(response, method);
  return response;
}

}  // namespace croft::node::worker::handlers
