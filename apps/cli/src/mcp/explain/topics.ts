// The topics that `explain` knows, and the error codes of this server.

/** Applies while the receipt id is the id of the public link, which it is until the link is rotated. */
export const PUBLIC_LINK_OPENS =
  'Anyone with this link can open every file in the locker. Once the locker is attested, the evidence at the same id ' +
  'lists all file names, sizes and hashes.'

export const TOPICS: Record<string, string> = {
  quote: 'A price with its terms, for a few minutes. It is free and carries no obligation.',
  intent:
    'The name of a purchase. The same text is the same purchase and is paid once, also after errors, restarts and ' +
    'timeouts. A new text is a new purchase, and costs again. By default it is derived from wallet, units, provider and day.',
  receipt:
    'Proof of a payment, signed by the gateway: who paid what, when, in which transaction. It does not expire. Its id ' +
    '(rcpt_…) names the locker in every tool.',
  locker:
    'The storage that a receipt pays for. The key that paid owns it; operators that the owner names may read and write. ' +
    'Anyone who knows the receipt id and the filename can read a file while the public link is open.',
  statement:
    'What the gateway signs about a locker: the Merkle root over names, sizes and hashes of all files. Each names the ' +
    'previous one, so that none can be changed or left out unnoticed. `attest` makes one.',
  attestation: 'The act of making a statement, or the statement itself: see statement.',
  anchor:
    'The digest of a statement in a transaction on chain. It shows when the statement existed at the latest, ' +
    'independently of the gateway.',
  bundle:
    'A file with everything needed to check a statement offline: list of files, signature, keys, anchor. `verify` reads ' +
    'it. It names the receipt, so anyone who has it can open every file while the public link is open. A redacted bundle ' +
    '(GET /v1/storage/redacted-bundle) proves chosen files, or all without their names, and opens nothing. For cosign and other verifiers of Sigstore, ' +
    'the tool `bundle` makes one.',
  policy:
    'Which public logs and witnesses are trusted, and how many witnesses must vouch for a log: a text as in C2SP ' +
    'tlog-policy. `verify` accepts it as a file. It proves something only if the user chose it, and not the gateway.',
  facts:
    'One result of a verification: passed, failed, not_checked or unavailable. A fact that was not checked has not ' +
    'passed, and the verdict says nothing about it.',
  limits:
    'What the wallet of this server may spend, for each purchase (SVC_MCP_MAX_USD) and each day in UTC ' +
    '(SVC_MCP_MAX_USD_PER_DAY). Only the user can change it. A purchase that a limit refuses moves no money.',
  renewal:
    'A purchase that extends a locker. The purchased terms are added to what is left; receipt, links and statements ' +
    'stay. `renew_locker` pays for it.',
  subscription:
    'Thirty days of the agent service, for the wallet that paid. `subscribe` buys them; another intent adds thirty more days.',
  delegation:
    'A locker that the agent service works on: it reads files back and compares them, keeps copies of web addresses, ' +
    'and writes its findings into a signed log. It has a separate key for each locker, which may read, write and list.',
  link:
    'The result of `get_link`: a temporary URL, which opens one file for a day and does not name the receipt. With `public`, ' +
    `also the public address of the file, which does not expire. ${PUBLIC_LINK_OPENS} \`public_link\` rotates or closes it.`,
}

/** Follows every failure that may pass. */
export const AGAIN = 'it is safe to repeat the same call with the same arguments: nothing is paid twice'

/** No advice leads to a payment that was not begun: a model can spend money. */
export const SERVER_CODES = {
  not_paid: {
    means: 'The purchase failed before any money moved.',
    next: 'read why, and tell the user; the same call with the same intent tries again',
  },
  payment_uncertain: {
    means: 'A payment was signed; whether it landed is not certain yet.',
    next: 'repeat the same call with the same intent and arguments; never use another intent',
  },
  paid_but_unfinished: {
    means: 'The money has moved, but the receipt, or what it buys, is missing.',
    next: 'repeat the same call with the same intent and arguments: it continues without paying again',
  },
  over_purchase_limit: {
    means: 'The purchase costs more than this server may pay at once.',
    next: 'tell the user, who can raise SVC_MCP_MAX_USD',
  },
  over_day_limit: {
    means: 'The purchase would cost more than this server may pay in a day.',
    next: 'tell the user, who can raise SVC_MCP_MAX_USD_PER_DAY',
  },
  asset_not_allowed: {
    means: 'This server does not pay in that asset.',
    next: 'tell the user; without `asset` the call means USDC',
  },
  name_taken: {
    means: 'A locker or a purchase has that name already.',
    next: 'use the existing locker, which `list_lockers` shows',
  },
  no_wallet: { means: 'The server has no key.', next: 'the user sets SVC_WALLET to a key file' },
  no_node: { means: 'The server knows no node of its chain.', next: 'the user sets SVC_PRIMARY_RPC or SVC_EVM_RPC' },
  no_agent: {
    means: 'The server knows no agent service.',
    next: 'the user sets SVC_AGENT to the address of an agent service',
  },
  not_subscribed: {
    means: 'The wallet of this server has no subscription to the agent service.',
    next: 'tell the user, who decides about a subscription; `agent_status` shows its price',
  },
  no_answer: {
    means: 'The gateway or the agent service does not answer.',
    next: 'repeat the same call later; nothing is paid twice',
  },
  untrue_answer: { means: 'A service gave an answer that cannot be true.', next: 'do not rely on it; tell the user' },
  no_root: {
    means: 'No folder is set for this server to read files from.',
    next: 'the user sets SVC_MCP_ROOT to a folder',
  },
  path_outside_root: { means: 'The path leads out of the folder that may be read.', next: 'use a path below the root' },
  path_unreadable: { means: 'The file does not exist or cannot be read.', next: 'ask the user for the right path' },
  path_changed: { means: 'The file was replaced while it was opened.', next: 'repeat the same call' },
  not_a_file: { means: 'The path is not a regular file.', next: 'give the path of a file' },
  not_a_folder: { means: 'The path is not a folder.', next: 'give the path of a folder' },
  path_hidden: { means: 'Hidden files and keys are not read.', next: 'use another file' },
  file_too_large: { means: 'The file is too large for a conversation.', next: 'use `get_link`' },
  not_text: { means: 'The file is not text.', next: 'use `get_link`' },
  link_not_available: { means: 'The file is being changed.', next: 'try again in a moment' },
  bad_url: { means: 'The address is not a public https address.', next: 'use `path`, or another address' },
  bad_policy: {
    means: 'The policy, or the key of a log, cannot be read.',
    next: 'tell the user which line is wrong; do not invent another policy',
  },
  bad_arguments: {
    means: 'An argument is missing, unknown or of the wrong form.',
    next: 'read which argument it is, and correct it',
  },
  unexpected_answer: { means: 'The gateway answers as no gateway should.', next: 'tell the user' },
  cancelled: { means: 'The client cancelled the call.', next: AGAIN },
  unexpected: { means: 'An error in this server, which its log describes.', next: `tell the user; ${AGAIN}` },
} as const satisfies Record<string, { means: string; next: string }>

/** The codes of errors that this server finds itself. */
export type ServerCode = keyof typeof SERVER_CODES
