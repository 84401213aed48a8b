// Resources of one noun on stdout, page by page, in any form.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "admin-cli/nouns.h"
#include "admin-cli/output.h"

namespace croft::admin_cli {

class ResourcePrinter {
 public:
  // `full_names`: the table names objects of several farms. The view's columns are field paths.
  ResourcePrinter(const Noun& noun, const View& view, bool full_names = false);
  // Refuses a column that the type has not. It must be OK to print.
  absl::Status Check() const;
  // The fields to ask for, names of the type's own; all if empty.
  const std::vector<std::string>& fields() const { return fields_; }

  void Print(const std::vector<MessagePtr>& page);
  // A single resource (get, create): json and yaml without a list around it.
  void PrintOne(const google::protobuf::Message& resource);
  // Ends what a list began; an empty table says so on stderr.
  void Finish();

 private:
  struct Shown {
    std::string title, path;
  };

  std::vector<std::string> Cells(const google::protobuf::Message& resource) const;
  static std::vector<Shown> Choose(const Noun& noun, const View& view);
  static std::vector<std::string> Titles(const std::vector<Shown>& columns);

  bool full_names_;
  const Noun& noun_;
  View view_;
  std::vector<Shown> columns_;
  std::vector<std::string> fields_;
  TablePrinter table_;
  ItemPrinter items_;
  bool any_ = false;
};

}  // namespace croft::admin_cli
