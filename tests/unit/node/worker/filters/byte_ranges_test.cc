#include "node/worker/filters/byte_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace croft::node::worker::filters {
namespace {

using Kind = RangeSelection::Kind;

std::string Show(const RangeSelection& selection) {
  if (selection.kind == Kind::kWhole) {
    return "whole";
  }
  if (selection.kind == Kind::kUnsatisfiable) {
    return "unsatisfiable";
  }
  std::string text;
  for (const ByteRange& range : selection.ranges) {
    text +=
        (text.empty() ? "" : ",") + std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

TEST(ByteRanges, SelectsFromAFileOfAHundredBytes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"bytes=0-9", "0-9"},
      {"bytes=0-0", "0-0"},
      {"bytes=90-", "90-99"},
      {"bytes=-10", "90-99"},
      {"bytes=-1000", "0-99"},
      {"bytes=0-1000", "0-99"},
      {"bytes=99-99", "99-99"},
      {" bytes = 1-2 , 5-6", "1-2,5-6"},
      {"bytes=50-59,0-9", "50-59,0-9"},
      {"bytes=,,0-0,", "0-0"},
      {"bytes=100-", "unsatisfiable"},
      {"bytes=-0", "unsatisfiable"},
      {"bytes=200-300,-0", "unsatisfiable"},
      {"bytes=200-300,0-1", "0-1"},
      {"bytes=99999999999999999999999-", "unsatisfiable"},
      {"bytes=0-99999999999999999999999", "0-99"},
      {"bytes=-99999999999999999999999", "0-99"},
      {"", "whole"},
      {"bytes", "whole"},
      {"bytes=", "whole"},
      {"bytes=a-b", "whole"},
      {"bytes=5-4", "whole"},
      {"bytes=-", "whole"},
      {"bytes=5", "whole"},
      {"bytes=1-2,x", "whole"},
      {"bytes=--5", "whole"},
      {"bytes=+1-2", "whole"},
      {"items=0-9", "whole"},
      {"byte=0-9", "whole"},
      {"Bytes=0-9", "0-9"},
      {"BYTES=0-9", "0-9"},
  };
  for (const auto& [header, expected] : cases) {
    EXPECT_EQ(Show(SelectRanges(header, 100)), expected) << header;
  }
}

TEST(ByteRanges, MergesOverlapsAndNeighbours) {
  EXPECT_EQ(Show(SelectRanges("bytes=0-50,40-60", 100)), "0-60");
  EXPECT_EQ(Show(SelectRanges("bytes=10-19,0-9", 100)), "0-19");
  EXPECT_EQ(Show(SelectRanges("bytes=80-,0-9,5-20,-30", 100)), "0-20,70-99");
  EXPECT_EQ(Show(SelectRanges("bytes=0-,0-,0-,0-", 100)), "0-99");
}

TEST(ByteRanges, SendsTheWholeFileForTooManyRanges) {
  std::string header = "bytes=";
  for (std::size_t i = 0; i <= kRangesMax; ++i) {
    header += std::to_string(i * 3) + "-" + std::to_string(i * 3) + ",";
  }
  EXPECT_EQ(Show(SelectRanges(header, 100)), "whole");
}

TEST(ByteRanges, OfAnEmptyFileAreNone) {
  EXPECT_EQ(Show(SelectRanges("bytes=0-", 0)), "unsatisfiable");
  EXPECT_EQ(Show(SelectRanges("bytes=-5", 0)), "whole");
}

http::Response WholeFile(std::int64_t size) {
  http::Response response;
  response.Add("content-type", "text/plain");
  response.content_length = size;
  response.body.pieces.push_back({.text = {}, .offset = 0, .length = size});
  return response;
}

TEST(ByteRanges, TurnsOneRangeIntoASlice) {
  http::Response response = WholeFile(100);
  EXPECT_TRUE(ApplyRanges("bytes=10-19", 100, response));
  EXPECT_EQ(response.status, 206);
  EXPECT_EQ(response.content_length, 10);
  EXPECT_EQ(*response.Find("content-range"), "bytes 10-19/100");
  EXPECT_EQ(*response.Find("content-type"), "text/plain");
  ASSERT_EQ(response.body.pieces.size(), 1U);
  EXPECT_EQ(response.body.pieces[0].offset, 10);
  EXPECT_EQ(response.body.pieces[0].length, 10);
}

TEST(ByteRanges, TurnsSeveralIntoMultipartWithItsExactLength) {
  http::Response response = WholeFile(100);
  EXPECT_TRUE(ApplyRanges("bytes=0-1,98-99", 100, response));
  EXPECT_EQ(response.status, 206);
  EXPECT_EQ(response.Find("content-range"), nullptr);
  EXPECT_TRUE(response.Find("content-type")->starts_with("multipart/byteranges; boundary="));
  std::int64_t length = 0;
  for (const http::Piece& piece : response.body.pieces) {
    length += piece.text.empty() ? piece.length : static_cast<std::int64_t>(piece.text.size());
  }
  EXPECT_EQ(length, response.content_length);
  EXPECT_THAT(response.body.pieces[0].text, testing::HasSubstr("Content-Range: bytes 0-1/100\r\n"));
  EXPECT_THAT(response.body.pieces[0].text, testing::StartsWith("--"));
  EXPECT_THAT(response.body.pieces[2].text, testing::StartsWith("\r\n--"));
  EXPECT_THAT(response.body.pieces[4].text, testing::EndsWith("--\r\n"));
}

TEST(ByteRanges, AnswersWhatCannotBeSatisfied) {
  http::Response response = WholeFile(100);
  EXPECT_FALSE(ApplyRanges("bytes=100-", 100, response));
  EXPECT_EQ(response.status, 416);
  EXPECT_EQ(response.content_length, 0);
  EXPECT_EQ(*response.Find("content-range"), "bytes */100");
  EXPECT_TRUE(response.body.pieces.empty());
}

}  // namespace
}  // namespace croft::node::worker::filters
