#include "admin-cli/verbs.h"

#include <iterator>

namespace croft::admin_cli {
namespace {

constexpr Verb kVerbs[] = {
    {"list", "List objects, events or changes, page by page",
     "  croft list sites\n  croft list accounts -o csv\n  croft list events --limit 20\n"
     "  croft list changes site shop -o json\n  croft list sites --farm -     (of all farms)\n"
     "  croft list accounts --filter 'state = SUSPENDED' --sort 'create_time desc' --limit 10\n"
     "  croft list sites --selector tier=gold,env!=test --columns name,bindings.host,labels.tier\n"
     "  croft list sites -o jsonl | croft set -f - settings.log.enabled=true\n"
     "  croft list contexts\n",
     "output rows filter sort deleted limit object who since running", ListResources},
    {"get", "Show objects, or counters",
     "  croft get site shop -o yaml\n  croft get node web1 web2\n  croft get counters site shop\n"
     "  croft get counters pool --node web1\n",
     "output rows deleted since counters", GetResources},
    {"describe", "Show one object with everything known about it, as YAML",
     "  croft describe node web1\n  croft describe site shop --effective\n",
     "output rows deleted effective", GetResources},
    {"create", "Create one object",
     "  croft create farm main\n"
     "  croft create store content path=/srv/content homes.fan_out=75,50\n"
     "  croft create pool php max_concurrent_requests=100\n"
     "  croft create site shop bindings=*:80:shop.example root=content:shop pool=php "
     "--wait=serving\n"
     "  croft create account bob --if-absent\n"
     "  croft create context prod control=croft.example:4750 ca-file=ca.crt token-file=token\n"
     "\nThe fields of a type, what they take and their defaults: croft explain TYPE, such as\n"
     "  croft explain site\n  croft explain pool.processes\n",
     "output write absent owner wait", CreateResource},
    {"set", "Change fields of objects: key=value, key+=item, key-=item, key- (unset)",
     "  croft set site shop bindings+=*:80:www.shop.example settings.limits.max_body=50MB\n"
     "  croft set site shop settings.limits.max_body-\n"
     "  croft set platform settings.timeouts.idle=60s --wait=applied\n"
     "  croft set site shop paths[0].path=/big paths[0].settings.limits.max_body=1GB\n"
     "  croft set pool php max_concurrent_requests=50 --replace     (all else back to its "
     "default)\n"
     "\nThe fields of a type, what they take and their defaults: croft explain TYPE\n",
     "output input write owner force etag replace many count wait", SetResource},
    {"delete", "Delete objects",
     "  croft delete site shop\n  croft delete account bob ann --ignore-missing\n"
     "  croft list sites -o name --selector old | croft delete -f - --expect-count 250\n"
     "  croft delete site shop --if-etag 1a --reason 'moved away'\n",
     "output input write missing etag many count wait", DeleteResources},
    {"undelete", "Bring back what was deleted less than 30 days ago, with its uid",
     "  croft undelete site shop\n  croft undelete site shop --uid 4711\n"
     "  croft list sites --show-deleted --columns name,uid,delete_time\n",
     "output input write missing uid count wait", UndeleteResources},
    {"label", "Give objects labels, or take them away: key=value, key-",
     "  croft label site shop tier=gold old-\n"
     "  croft list sites -o name --filter 'state = STOPPED' | croft label -f - idle=yes\n"
     "  croft label accounts --selector tier=gold billing=monthly\n",
     "output input write owner force etag many count wait", LabelResources},
};

// Of states, nodes, explanations and the command line itself.
constexpr Verb kOtherVerbs[] = {
    {"start", "Start sites or pools", "  croft start pool php\n",
     "output input write owner force count wait", StartResources},
    {"stop", "Stop sites or pools: they answer 503", "  croft stop site shop --wait=serving\n",
     "output input write owner force count wait", StopResources},
    {"suspend", "Suspend accounts: their pages answer 403",
     "  croft suspend account bob --wait=serving --reason 'unpaid'\n",
     "output input write owner force count wait", SuspendAccounts},
    {"resume", "Resume suspended accounts, or a node that stopped because most sites would vanish",
     "  croft resume account bob\n  croft resume node web1 --expect-count 4711\n",
     "output input write owner force vanishing wait", Resume},
    {"drain", "Take nodes out of service: their health URL answers 503",
     "  croft drain node web1\n", "output input write owner force count wait", DrainNodes},
    {"undrain", "Put drained nodes back into service", "  croft undrain node web1\n",
     "output input write owner force count wait", UndrainNodes},
    {"enroll", "Make a join token with which one node can enrol, once",
     "  croft enroll node web1 > /etc/croft/join-token\n", "", EnrollNode},
    {"import",
     "Create or update objects from a file, one a row: CSV whose header names fields, or JSON "
     "lines",
     "  croft import accounts people.csv --wait=applied\n"
     "  croft import sites sites.jsonl --errors refused.csv\n"
     "  croft export accounts -o jsonl | croft import accounts - --field-manager billing\n"
     "\nA CSV's first line names fields as key=value does: name,organization,state,labels.tier "
     "(accounts: also store).\nAn empty value leaves the field as it is.\n",
     "write owner errors wait", ImportFile},
    {"explain",
     "Say what a URL leads to, which settings are in force and where each came from; or list the "
     "fields of a type",
     "  croft explain url http://shop.example/docs/a.html\n"
     "  croft explain url http://www.isp.example/~bob/ --ip 192.0.2.7\n"
     "  croft explain site\n  croft explain site.settings.limits\n",
     "output ip", ExplainUrl},
    {"top", "Show the busiest nodes, sites, pools, workers or stores",
     "  croft top site --limit 10\n  croft top pool --order-by rejected_queue_full_total\n",
     "output rows order limit", Top},
    {"use", "Choose the context that is taken where none is named", "  croft use context prod\n",
     "", nullptr, true, RunOnContexts},
    {"completion", "Print what a shell needs to complete commands and names",
     "  croft completion bash > /etc/bash_completion.d/croft\n"
     "  croft completion zsh > /usr/local/share/zsh/site-functions/_croft\n"
     "  croft completion fish > ~/.config/fish/completions/croft.fish\n",
     "", nullptr, true, PrintCompletion},
    {"man", "Write manual pages, one for each verb, into a directory",
     "  croft man /usr/local/share/man/man1\n", "", nullptr, true, WriteManPages},
    {"wait",
     "Wait until a revision is applied or serving on every node in service, or an operation has "
     "ended",
     "  croft wait revision 4711 --wait=serving --timeout 10s\n  croft wait operation 12\n",
     "output wait", WaitForRevision},
};

// Of files, history and work that goes on.
constexpr Verb kFurtherVerbs[] = {
    {"apply", "Make resources as files say: create, update, and prune within a label",
     "  croft apply -f shop.yaml\n  croft apply -f sites/ --dry-run\n"
     "  croft export sites | croft apply -f -\n"
     "  croft apply -f shop/ --prune-selector app=shop --expect-pruned 2 --wait=serving\n"
     "  croft apply -f shop.yaml --field-manager billing --force\n",
     "output files write owner force prune wait", ApplyFiles, false},
    {"diff", "Show what apply would change; exit 1 if anything",
     "  croft diff -f shop.yaml\n  croft diff -f sites/ --prune-selector app=shop\n",
     "output files owner force prune", DiffFiles, false},
    {"export", "Print resources as the documents that apply takes",
     "  croft export > everything.yaml\n  croft export sites pools --selector app=shop\n"
     "  croft export accounts --farm - -o jsonl\n",
     "output filter", ExportResources, false},
    {"history", "Show what became of one object: who, when, what, why",
     "  croft history site shop\n  croft history site shop --limit 5 -o json\n",
     "output rows since limit", ShowHistory},
    {"undo", "Undo a change as a new change: all of it, or one object's part",
     "  croft undo change 4711 --dry-run\n  croft undo change 4711 site shop --reason mistaken\n"
     "  croft undo change 4711 --expect-count 250 --force\n",
     "output write force-undo count wait", UndoChange},
    {"watch", "Follow events, or the changes of resources, as they come",
     "  croft watch events --object node/web1\n  croft watch sites --selector app=shop\n"
     "  croft watch accounts --all -o jsonl        (what exists first)\n"
     "  croft watch all -o jsonl --resume TOKEN    (every type, after where an earlier one "
     "ended)\n",
     "output filter watch object limit", Watch},
    {"cancel", "End an operation after the batch under way", "  croft cancel operation 12\n",
     "output write", CancelOperation},
};

}  // namespace

const std::vector<Verb>& AllVerbs() {
  static const std::vector<Verb> verbs = [] {
    std::vector<Verb> all(std::begin(kVerbs), std::end(kVerbs));
    all.insert(all.end(), std::begin(kOtherVerbs), std::end(kOtherVerbs));
    all.insert(all.end(), std::begin(kFurtherVerbs), std::end(kFurtherVerbs));
    return all;
  }();
  return verbs;
}

}  // namespace croft::admin_cli
