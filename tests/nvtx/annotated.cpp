// SPDX-License-Identifier: Apache-2.0
// A user's program with NVTX ranges, as `bench profile` runs it in tests. Executes its arguments in
// order:
//
//   push TEXT     pushes a range
//   pop           pops one
//   wide          pushes a range with a text of wide characters, one of them invalid
//   mark TEXT     marks an instant
//   domain        in a domain `library`: a range with a registered string, a category `io` and a
//                 payload of 42, around a range of the default domain that ends after it
//   across        starts a range on this thread and ends it on another
//   levels        pushes twice, pops three times, and prints the results
//   name TEXT     names this thread
//   threads       two threads: each pushes layer:worker and `step`, and pops only the latter
//   fork          a child pops the range that is open here and pushes a new one
//   self          runs this program with the remaining arguments in a child
//   replay FILE   pushes and pops according to its lines: "push TEXT", "pop"
//   keys          uses all keys of thread-specific data, pushes and pops a range on a new thread
//                 and prints whether its values are still the same
//   relu          executes an elementwise primitive of oneDNN
//   cuda on|off   cudaProfilerStart, cudaProfilerStop
//   print TEXT    prints TEXT and a newline
//   exit N        exits with status N
//   kill          ends by SIGKILL
#include <nvtx3/nvToolsExt.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits.h>
#include <map>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
int cudaProfilerStart();  // NOLINT: CUDA's names
int cudaProfilerStop();   // NOLINT
}

namespace {

using Words = std::vector<std::string>;

void execute_relu() {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc shape({2, 8, 4, 4}, dnnl::memory::data_type::f32,
                                 dnnl::memory::format_tag::nchw);
  dnnl::memory memory(shape, engine);
  const dnnl::eltwise_forward::primitive_desc description(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu, shape, shape,
      0.0F);
  dnnl::eltwise_forward(description)
      .execute(stream, {{DNNL_ARG_SRC, memory}, {DNNL_ARG_DST, memory}});
  stream.wait();
}

void name_thread(const std::string& name) {
  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), name.c_str());
}

void push_in_domain() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxDomainNameCategoryA(domain, 7, "io");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = 7;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = -42;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxRangePushA("around");
  nvtxDomainRangePop(domain);
  nvtxRangePop();
  nvtxDomainDestroy(domain);
}

void end_on_another_thread() {
  const nvtxRangeId_t id = nvtxRangeStartA("across");
  std::thread([id] { nvtxRangeEnd(id); }).join();
}

void work_in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] {
      name_thread("worker");
      nvtxRangePushA("layer:worker");
      nvtxRangePushA("step");
      nvtxRangePop();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<void*> values_of_all_keys() {
  std::vector<void*> values;
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key) {
    values.push_back(pthread_getspecific(key));
  }
  return values;
}

void push_without_a_free_key() {
  std::vector<pthread_key_t> keys;
  for (pthread_key_t key = 0; pthread_key_create(&key, nullptr) == 0;) keys.push_back(key);
  std::thread([] {
    const std::vector<void*> before = values_of_all_keys();
    nvtxRangePushA("without a key");
    nvtxRangePop();
    std::puts(values_of_all_keys() == before ? "kept" : "overwritten");
  }).join();
  for (const pthread_key_t key : keys) pthread_key_delete(key);
}

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
}

void fork_inside_of_range() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("in child");
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushA("left open");
    _exit(0);
  }
  wait_for(child);
}

void run_self(const char* program, const Words& words) {
  std::vector<std::string> arguments{program};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execv(program, pointers.data());
    _exit(127);
  }
  wait_for(child);
}

void print_levels() {
  const int first = nvtxRangePushA("a");
  const int second = nvtxRangePushA("b");
  const int third = nvtxRangePop();
  const int fourth = nvtxRangePop();
  std::printf("%d %d %d %d %d\n", first, second, third, fourth, nvtxRangePop() < 0 ? 1 : 0);
}

void replay(const std::string& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("push ")) nvtxRangePushA(line.c_str() + 5);
    if (line == "pop") nvtxRangePop();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv + 1, argv + argc);
  std::size_t position = 0;
  const auto next = [&] { return words.at(++position); };
  const std::map<std::string, std::function<void()>> actions = {
      {"push", [&] { nvtxRangePushA(next().c_str()); }},
      {"pop", [] { nvtxRangePop(); }},
      {"wide",
       [] {
         const wchar_t text[] = {L'G', L'r', L'\u00F6', L'\u00DF', L'e', wchar_t(0xD800), L'\0'};
         nvtxRangePushW(text);
       }},
      {"mark", [&] { nvtxMarkA(next().c_str()); }},
      {"domain", push_in_domain},
      {"across", end_on_another_thread},
      {"keys", push_without_a_free_key},
      {"levels", print_levels},
      {"name", [&] { name_thread(next()); }},
      {"threads", work_in_threads},
      {"fork", fork_inside_of_range},
      {"self",
       [&] {
         run_self(argv[0],
                  Words(words.begin() + static_cast<std::ptrdiff_t>(position) + 1, words.end()));
         position = words.size();
       }},
      {"replay", [&] { replay(next()); }},
      {"relu", execute_relu},
      {"cuda",
       [&] { std::printf("%d\n", next() == "on" ? cudaProfilerStart() : cudaProfilerStop()); }},
      {"print", [&] { std::puts(next().c_str()); }},
      {"exit", [&] { std::exit(std::atoi(next().c_str())); }},
      {"kill", [] { std::raise(SIGKILL); }},
  };
  for (; position < words.size(); ++position) actions.at(words[position])();
}
