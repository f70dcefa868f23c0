// Requests and answers: what is written is read back, and what is wrong is refused by name.

import Commands
import JSON
import Testing

@Suite struct MessageTests {
    @Test(arguments: [
        Call.hello, .connect(ConnectOptions()), .connect(ConnectOptions(killSwitch: true, confirmSeconds: 60)),
        .connect(ConnectOptions(killSwitch: false)), .confirm, .disconnect, .status(network: false),
        .connect(ConnectOptions(domesticAllowed: true)), .domestic(on: true), .domestic(on: false),
        .domestic(on: true, soon: true), .status(network: true), .subscribe, .logs(.engine), .logs(.worker),
    ])
    func requestsComeBack(call: Call) throws {
        let request = Request(id: 7, call)
        #expect(try Request(json: JSON.parse(request.json.text())) == request)
    }

    @Test func theWireFormIsTheContract() {
        let call = Call.connect(ConnectOptions(killSwitch: true, confirmSeconds: 9))
        #expect(
            Request(id: 7, call).json.text()
                == #"{"v":1,"id":7,"call":"connect","killSwitch":true,"confirmSeconds":9}"#)
        #expect(Reply(id: 7, ok: [:]).json.text() == #"{"id":7,"ok":{}}"#)
        let failure = Failure(.notOwner, "No.", remedy: nil)
        #expect(
            Reply(id: nil, failure).json.text()
                == #"{"id":null,"error":{"code":"not-owner","message":"No.","remedy":null}}"#)
    }

    @Test(arguments: [
        (#"{"id":1,"call":"hello"}"#, "protocol-version"), (#"{"v":2,"id":1,"call":"hello"}"#, "protocol-version"),
        (#"{"v":1,"call":"hello"}"#, "bad-request"), (#"{"v":1,"id":"1","call":"hello"}"#, "bad-request"),
        (#"{"v":1,"id":1}"#, "bad-request"), (#"{"v":1,"id":1,"call":"shutdown"}"#, "unknown-call"),
        (#"{"v":1,"id":1,"call":"logs"}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"logs","source":"../x"}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"connect","killSwitch":"yes"}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"connect","confirmSeconds":0}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"connect","domesticAllowed":1}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"domestic"}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"domestic","on":null}"#, "bad-request"),
        (#"{"v":1,"id":1,"call":"connect","confirmSeconds":1e99}"#, "bad-request"),
    ])
    func wrongRequestsAreRefused(text: String, code: String) throws {
        let json = try JSON.parse(text)
        let failure = #expect(throws: Failure.self) { try Request(json: json) }
        #expect(failure?.code.rawValue == code)
    }

    @Test func aStatusComesBackWhole() throws {
        var status = StatusReport(state: .reconnecting)
        status.stage = .waiting
        status.reason = Failure(.engineExited, "The engine ended.", remedy: "Look at its log.")
        status.owner = 1000
        status.mine = true
        status.since = 1_700_000_000
        status.killSwitch = true
        status.confirmBy = 1_700_000_060
        status.engine = EngineReport(pid: 77, restarts: 2)
        status.api = APIReport(address: "127.0.0.1:9090", secret: "s")
        status.verified = true
        status.diversions = [
            DiversionReport(family: 6, onlyNames: true, link: "wg0", rule: "50: from all lookup main"),
            DiversionReport(family: 4, onlyNames: false, link: nil, rule: nil),
        ]
        status.networkChanges = 3
        status.dataPath = .tun
        status.domesticFastPath = true
        status.dns = ["method": "capture"]
        status.notCovered = ["forwarded"]
        status.otherClients = ["sing-box"]
        status.network = NetworkListing(host: ["a"], sandbox: ["b", "c"])
        let event = StateEvent(token: 3, dropped: 1, status: status)
        #expect(ServerMessage(json: try JSON.parse(event.json.text())) == .state(event))
    }

    @Test func answersAreToldApart() throws {
        let reply = Reply(id: 1, ok: ["x": 1])
        #expect(ServerMessage(json: reply.json) == .reply(reply))
        let failed = Reply(id: nil, Failure(.busy, "Busy.", remedy: "Wait."))
        #expect(ServerMessage(json: failed.json) == .reply(failed))
        #expect(ServerMessage(json: ["id": 1]) == nil)
        #expect(HelloReport(json: ["version": "1", "protocol": 2]) == nil)
        let hello = HelloReport(version: "1", stateRoot: "/a", userDirectory: "/a/1", engine: "/e", ruleSets: "/r")
        #expect(HelloReport(json: hello.json) == hello)
    }
}
