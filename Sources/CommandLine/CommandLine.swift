// CommandLine: see specs/001-linux-vpn-client/plan.md for what this module holds.
