// An AssignSlot that decides nothing, by C++ gRPC's callback interface: echo HOST:PORT. Its
// answer has as many bytes as Offbeat's.
#include <grpcpp/grpcpp.h>

#include <iostream>
#include <string>

#include "offbeat/v1/slots.grpc.pb.h"

namespace {

class Slots final : public offbeat::v1::SlotService::CallbackService {
 public:
  Slots() {
    // The fields of Offbeat's answer: identity, one piece with offsets, two runs with keys, and the reason.
    answer_.mutable_identity()->set_fingerprint(std::string(64, 'f'));
    answer_.mutable_identity()->set_run_key_root(std::string(64, 'f'));
    auto* piece = answer_.add_pieces();
    piece->set_slot_index(75);
    piece->mutable_slot_offset()->set_seconds(8);
    piece->mutable_cycle_offset()->set_seconds(16'883);
    for (auto* run : {piece->mutable_last_run(), piece->add_next_runs()}) {
      run->mutable_start_time()->set_seconds(1'767'242'483);
      run->set_cycle_index(20'454);
      run->set_run_key(std::string(118, 'k'));
    }
    answer_.mutable_explanation()->set_canonical_id(std::string(36, 'i'));
    answer_.mutable_explanation()->set_hash(std::string(16, 'h'));
  }

  grpc::ServerUnaryReactor* AssignSlot(grpc::CallbackServerContext* context,
                                       const offbeat::v1::AssignSlotRequest*,
                                       offbeat::v1::AssignSlotResponse* answer) override {
    *answer = answer_;
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  offbeat::v1::AssignSlotResponse answer_;
};

}  // namespace

int main(int, char** arguments) {
  Slots slots;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&slots);
  auto server = builder.BuildAndStart();
  std::cerr << "listening" << std::endl;
  server->Wait();
}
