// One replica that is fed deltas and one that is loaded at once, for the fuzz target beside this.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/replica/reader.h"
#include "node/replica/writer.h"
#include "proto/base/check.h"
#include "tests/unit/node/replica/records.h"

namespace croft::fuzz {

class PairOfReplicas {
 public:
  PairOfReplicas() {
    Check(::mkdtemp(directory_.data()) != nullptr, "make a directory");
    for (const char* name : {"/fed", "/loaded"}) {
      std::filesystem::create_directory(directory_ + name);
      writers_.push_back(*node::replica::Writer::Open(directory_ + name, {.sync = false}));
      readers_.push_back(*node::replica::Reader::Open(directory_ + name));
    }
  }
  ~PairOfReplicas() {
    readers_.clear();
    writers_.clear();
    std::filesystem::remove_all(directory_);
  }

  void Clear() {
    Load(0, {});
    Load(1, {});
    revision_ = 0;
  }

  void ApplyDelta(const std::set<int>& changed, const std::map<int, int>& name_of, bool reversed) {
    ++revision_;
    std::vector<node::v1::Record> records;
    for (const int site : changed) {
      const auto found = name_of.find(site);
      records.push_back(found == name_of.end()
                            ? node::replica::ADeletion(node::v1::SITE, site, revision_)
                            : MakeSite(site, found->second));
    }
    const auto transaction = *writers_[0]->Begin();
    for (std::size_t i = 0; i < records.size(); ++i) {
      const node::v1::Record& record = records[reversed ? records.size() - 1 - i : i];
      Check(transaction->Apply(record, false).ok(), "apply a record");
    }
    Check(transaction->Commit().ok(), "commit a delta");
  }

  void LoadSnapshot(const std::map<int, int>& name_of) { Load(1, name_of); }

  void CheckEqual(const std::map<int, int>& name_of) const {
    const auto fed = *readers_[0]->Count();
    const auto loaded = *readers_[1]->Count();
    Check(fed.records == loaded.records && fed.names == loaded.names &&
              fed.bindings == loaded.bindings,
          "the counts differ");
    for (const auto& [site, name] : name_of) {
      for (const auto& reader : readers_) {
        Check(*reader->FindUid(node::v1::SITE, "farms/main/sites/n" + std::to_string(name)) == site,
              "a name leads elsewhere");
        Check(*reader->FindBinding(node::replica::BindingKeyOf(HostOf(name))) == site,
              "a binding leads elsewhere");
      }
    }
  }

 private:
  static std::string HostOf(int name) { return "h" + std::to_string(name) + ".example"; }

  node::v1::Record MakeSite(int site, int name) const {
    return node::replica::ASite(site, revision_, "n" + std::to_string(name), {HostOf(name)});
  }

  void Load(std::size_t which, const std::map<int, int>& name_of) {
    node::v1::SnapshotRange range;
    range.set_type(node::v1::SITE);
    range.set_through(std::numeric_limits<std::int64_t>::max());
    std::vector<std::int64_t> keep;
    const auto transaction = *writers_[which]->Begin();
    for (const auto& [site, name] : name_of) {
      keep.push_back(site);
      Check(transaction->Apply(MakeSite(site, name), true).ok(), "load a record");
    }
    Check(transaction->DeleteGaps(range, keep).ok(), "delete the gaps");
    Check(transaction->Commit().ok(), "commit a snapshot");
  }

  std::string directory_ = std::filesystem::temp_directory_path().string() + "/croft-fuzz-XXXXXX";
  std::vector<std::unique_ptr<node::replica::Writer>> writers_;
  std::vector<std::unique_ptr<node::replica::Reader>> readers_;
  std::int64_t revision_ = 0;
};

}  // namespace croft::fuzz
