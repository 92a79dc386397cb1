# frozen_string_literal: true

module Offbeat
  # Asks about the sidecar itself.
  class Client
    # The version, time-zone database and limits of the sidecar: a {ServerInfo}.
    def server_info(timeout: nil)
      ServerInfo.of(call("GetServerInfo", V1::GetServerInfoRequest.new, V1::GetServerInfoResponse, timeout,
                         service: "v1.ServerInfoService"))
    end
  end
end
