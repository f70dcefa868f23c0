// Completion scripts for shells, rendered from the table.

package import Messages

extension CommandTable {
    private var function: String { "_" + program.replacing("-", with: "_") }

    /// The words that may stand as a verb's operand.
    private func words(_ operand: OperandSpecification?) -> [String] {
        if case .words(let words)? = operand?.completion { return words }
        return []
    }

    private func options(of verb: VerbSpecification) -> [OptionSpecification] { verb.options + common }

    /// For bash; to be sourced, or installed in /usr/share/bash-completion/completions.
    package var bashCompletion: String {
        var verbCases = ""
        for verb in verbs {
            let flags = options(of: verb).map { "--" + $0.name }.joined(separator: " ")
            var operand = words(verb.operand).joined(separator: " ")
            switch verb.operand?.completion {
            case .line?: operand = "@lines"
            case .file?: operand = "@files"
            default: break
            }
            verbCases += "        \(verb.name)) flags='\(flags)' operand='\(operand)' ;;\n"
        }
        var valueCases = ""
        for option in Set(verbs.flatMap(\.options) + common).sorted(by: { $0.name < $1.name }) {
            switch option.completion {
            case .words(let words):
                valueCases +=
                    "        --\(option.name)) COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\")); return ;;\n"
            case .file: valueCases += "        --\(option.name)) compopt -o default; return ;;\n"
            case .directory: valueCases += "        --\(option.name)) compopt -o dirnames; return ;;\n"
            case .nothing where option.value != nil: valueCases += "        --\(option.name)) return ;;\n"
            case .nothing: break
            }
        }
        let valued = Set(verbs.flatMap(\.options) + common).filter { $0.value != nil }.map { "--" + $0.name }.sorted()
        return """
            # bash completion of \(program)
            \(function)() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' flags='' operand='' name last=''
                COMPREPLY=()
                case $before in
            \(valueCases)    esac
                for name in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case $last in \(valued.joined(separator: "|"))) last=''; continue ;; esac
                    last=$name
                    case $name in -*) ;; *) verb=$name; break ;; esac
                done
                if [ -z "$verb" ]; then
                    COMPREPLY=($(compgen -W '\((verbs.map(\.name) + common.map { "--" + $0.name }).joined(separator: " "))' -- "$word"))
                    return
                fi
                case $verb in
            \(verbCases)    esac
                case $word in -*) COMPREPLY=($(compgen -W "$flags" -- "$word")); return ;; esac
                case $operand in
                @files) compopt -o default ;;
                @lines)
                    while IFS= read -r name; do
                        case $name in "$word"*) COMPREPLY+=("$(printf '%q' "$name")") ;; esac
                    done < <(\(program) completion lines 2>/dev/null)
                    ;;
                *) COMPREPLY=($(compgen -W "$operand" -- "$word")) ;;
                esac
            }
            complete -F \(function) \(program)

            """
    }

    /// For zsh; to be installed as `_trocket-controller` in a directory of `fpath`.
    package func zshCompletion(_ language: Language) -> String {
        func quoted(_ text: String) -> String { text.replacing("'", with: "'\\''").replacing(":", with: "\\:") }
        func bracketed(_ text: String) -> String {
            text.replacing("'", with: "'\\''").replacing("[", with: "(").replacing("]", with: ")")
        }
        func argument(_ option: OptionSpecification) -> String {
            var text = "'--\(option.name)[\(bracketed(option.help(language)))]"
            if let value = option.value {
                text += ":\(value.replacing(":", with: " ")):"
                switch option.completion {
                case .words(let words): text += "(\(words.joined(separator: " ")))"
                case .file: text += "_files"
                case .directory: text += "_files -/"
                case .nothing: break
                }
            }
            return text + "'"
        }
        func operand(_ operand: OperandSpecification?) -> String {
            guard let operand else { return "" }
            let place = operand.count == .any ? "*" : "1"
            switch operand.completion {
            case .words(let words): return " '\(place):\(operand.name):(\(words.joined(separator: " ")))'"
            case .file: return " '\(place):\(operand.name):_files'"
            case .line: return " '\(place):\(operand.name):\(function)_lines'"
            case .nothing: return ""
            }
        }
        let list = verbs.map { "        '\($0.name):\(quoted($0.summary(language)))'" }.joined(separator: "\n")
        let cases = verbs.map { verb in
            "        \(verb.name)) _arguments " + options(of: verb).map(argument).joined(separator: " ")
                + operand(verb.operand) + " ;;"
        }
        return """
            #compdef \(program)
            \(function)_lines() {
                local -a names
                names=("${(@f)$(\(program) completion lines 2>/dev/null)}")
                compadd -a names
            }
            \(function)() {
                local -a verbs
                verbs=(
            \(list)
                )
                if (( CURRENT == 2 )); then
                    _describe verb verbs
                    return
                fi
                local verb=$words[2]
                shift words
                (( CURRENT-- ))
                case $verb in
            \(cases.joined(separator: "\n"))
                esac
            }
            if [ "$funcstack[1]" = "\(function)" ]; then \(function) "$@"; else compdef \(function) \(program); fi

            """
    }

    /// For fish; to be installed in ~/.config/fish/completions.
    package func fishCompletion(_ language: Language) -> String {
        func quoted(_ text: String) -> String {
            "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        var lines = ["# fish completion of \(program)", "complete -c \(program) -f"]
        func add(_ option: OptionSpecification, _ condition: String) {
            var line = "complete -c \(program)\(condition) -l \(option.name) -d \(quoted(option.help(language)))"
            if option.value != nil {
                switch option.completion {
                case .words(let words): line += " -x -a \(quoted(words.joined(separator: " ")))"
                case .file: line += " -r -F"
                case .directory: line += " -x -a '(__fish_complete_directories)'"
                case .nothing: line += " -x"
                }
            }
            lines.append(line)
        }
        common.forEach { add($0, "") }
        for verb in verbs {
            lines.append(
                "complete -c \(program) -n __fish_use_subcommand -a \(verb.name) -d \(quoted(verb.summary(language)))")
            let condition = " -n '__fish_seen_subcommand_from \(verb.name)'"
            verb.options.forEach { add($0, condition) }
            switch verb.operand?.completion {
            case .words(let words)?:
                lines.append("complete -c \(program)\(condition) -a \(quoted(words.joined(separator: " ")))")
            case .line?:
                lines.append("complete -c \(program)\(condition) -a '(\(program) completion lines 2>/dev/null)'")
            case .file?: lines.append("complete -c \(program)\(condition) -F")
            case .nothing?, nil: break
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    /// Every occurrence of a text replaced.
    fileprivate func replacing(_ text: String, with other: String) -> String {
        var result = ""
        var rest = self[...]
        while let found = rest.firstRange(of: text) {
            result += rest[..<found.lowerBound] + other
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}
