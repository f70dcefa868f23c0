// What needs the real engine; left out where TROCKET_ENGINE does not name one.

import ImportReport
import EngineControl
import JSON
import Linux
import Testing

let realEngine = Surroundings.variable("TROCKET_ENGINE")

@Suite(.enabled(if: realEngine != nil)) struct RealEngineTests {
    @Test func isUnderstood() throws {
        let engine = try EngineBinary.find()
        #expect(engine.version >= .minimum)
        #expect(engine.capabilities.tags.contains("with_clash_api"))
    }

    @Test func checksAConfiguration() throws {
        let engine = try EngineBinary.find()
        try engine.check(["outbounds": [["type": "direct", "tag": "direct"]]])
        #expect(throws: EngineFailure.rejected("outbounds[0]: unknown outbound type: nope")) {
            try engine.check(["outbounds": [["type": "nope", "tag": "a"]]])
        }
    }

    @Test func knowsItsSchema() throws {
        #expect(try EngineBinary.find().schema()["properties"]["outbounds"].object != nil)
    }
}
