// The verb `forget`.

import CommandLine
import Commands
import JSON
import Messages
import Store

extension Verb {
    static let forget = Verb(
        VerbSpecification(
            "forget", summary: HelpText.forgetSummary, details: HelpText.forgetDetails)
    ) { context, command in
        if let worker = try? context.worker(), let status = try? worker.status(), status.mine,
            status.state != .disconnected, try worker.hello().userDirectory == context.stateDirectory
        {
            throw Failure(
                "connected", .failed, Messages.forgetWhileConnected, remedy: Messages.forgetWhileConnectedRemedy)
        }
        let removed = try context.state().forget()
        if context.output.json {
            context.output.result(["removed": .strings(removed)])
        } else if removed.isEmpty {
            context.output.result(Text("没有可删除的内容。", "There was nothing to remove."))
        } else {
            context.output.result(
                Text(
                    "已删除：\(removed.joined(separator: "、"))。", "Removed: \(removed.joined(separator: ", "))."))
        }
        return .done
    }
}
