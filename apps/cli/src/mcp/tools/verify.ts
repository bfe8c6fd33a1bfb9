import { isoSeconds } from '@svc/protocol/evidence'
import { folderSource } from '@svc/sdk/node'
import { notChecked, type Fact as VerifierFact } from '@svc/verifier/facts'
import type { Chunks } from '@svc/verifier/read-bundle'
import { receiptFacts as receiptOfBundleFacts } from '@svc/verifier/receipt-facts'
import { verdictOf } from '@svc/verifier/verdict'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import Type, { type Static } from 'typebox'
import { MOST_NAMES } from '../../evidence/file-names.ts'
import { type Judged, objections } from '../../evidence/judgement.ts'
import { reportOf } from '../../evidence/report.ts'
import { verdictText } from '../../evidence/verdict-text.ts'
import { type Verified, verifyChunks } from '../../evidence/verify-chunks.ts'
import type { Style } from '../../output/style.ts'
import { type Context, primaryNode } from '../context.ts'
import { Refusal } from '../errors.ts'
import { FACT_MEANINGS, FACT_VALUES, RECEIPT_FACT_MEANINGS } from '../explain/facts.ts'
import { givenLogs, LogArguments, type LogsNamed } from './given-logs.ts'
import { type BundleOrigin, openBundle } from './open-bundle.ts'
import { type ReceiptFacts, receiptFacts } from './receipt-facts.ts'
import { type Call, type Outcome, READS, ReceiptId, Sequence, STRICT, tool } from './tool.ts'

const Fact = Type.Object({
  fact: Type.String(),
  value: Type.Enum(['passed', 'failed', 'not_checked', 'unavailable']),
  why: Type.Union([Type.String(), Type.Null()], { description: 'Why it has not passed.' }),
  means: Type.String({ description: 'What it means when it has passed.' }),
})

const Statement = Type.Object({
  sequence: Type.Integer(),
  issued_at: Type.String(),
  statement_digest: Type.String(),
  file_count: Type.Integer(),
})

const Log = Type.Object({
  origin: Type.String(),
  index: Type.Integer(),
  size: Type.Integer(),
  cosigned: Type.Array(Type.Object({ name: Type.String(), at: Type.String() }), {
    description: 'Witnesses of the policy that vouch for it, and when they did.',
  }),
})

const Verification = Type.Object({
  verdict: Type.Union([Type.Enum(['verified', 'signer_unknown', 'failed']), Type.Null()], {
    description:
      'signer_unknown: nothing failed, but the key that signed is not pinned in SVC_KEYS. Null without a statement.',
  }),
  receipt_id: Type.Union([Type.String(), Type.Null()], { description: 'For a bundle: the receipt that it claims.' }),
  facts: Type.Array(Fact),
  failed: Type.Array(Type.String()),
  unchecked: Type.Array(Type.String(), { description: 'Fields of the bundle that no fact covers.' }),
  refused: Type.Union([Type.Object({ code: Type.String(), why: Type.String() }), Type.Null()], {
    description: 'Why it is not an evidence bundle.',
  }),
  statement: Type.Union([Statement, Type.Null()]),
  counted: Type.Union([
    Type.Object({
      files: Type.Integer(),
      total_bytes: Type.Union([Type.String(), Type.Null()]),
      merkle_root: Type.Union([Type.String(), Type.Null()]),
    }),
    Type.Null(),
  ]),
  left_out: Type.Array(Type.String(), {
    description: 'What a redacted bundle does not show, and no fact covers.',
  }),
  log: Type.Union([Log, Type.Null()], {
    description: 'The claims of the proof of a public log; the facts show which of them are true.',
  }),
})

const path = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description }))

export const verify = tool({
  name: 'verify',
  title: 'Verify a receipt or a bundle',
  description:
    'Checks evidence here, without trusting the gateway. Give one of `receipt_id`, `path` and `url`. The answer begins ' +
    'with the verdict: report it with its facts. not_checked is not passed.',
  annotations: READS,
  input: Type.Object(
    {
      receipt_id: Type.Optional(
        Type.String({ ...ReceiptId, description: 'Fetches the receipt and its newest statement.' }),
      ),
      path: path('Evidence below the root: a bundle, complete or redacted, a DSSE envelope or a Sigstore bundle.'),
      url: path('The same at a public https address.'),
      sequence: Sequence,
      folder: path('Below the root: also checks that its files are the listed ones.'),
      ...LogArguments,
    },
    STRICT,
  ),
  output: Verification,
  async run(context, input, call) {
    const { receipt_id, path, url } = input
    if ([receipt_id, path, url].filter((origin) => origin !== undefined).length !== 1)
      throw new Refusal('bad_arguments', 'give one of `receipt_id`, `path` and `url`')
    if (receipt_id === undefined) return verified(context, input, call, null)
    return verified(context, input, call, await receiptFacts(context, receipt_id, call.signal))
  },
})

type Wanted = BundleOrigin & { folder?: string } & LogsNamed
type Data = Static<typeof Verification>

async function verified(
  context: Context,
  wanted: Wanted,
  call: Call,
  receipt: ReceiptFacts | null,
): Promise<Outcome<Data>> {
  const { root, settings } = context
  const folder = wanted.folder === undefined ? null : await root.enter(wanted.folder)
  const logs = await givenLogs(root, wanted)
  const bundle = await openBundle(context, wanted, call.signal)
  if (bundle === null) return outcome(withoutStatement(wanted, receipt), null)
  try {
    const names: string[] = []
    const checked = await verifyChunks(unlessAborted(bundle.chunks, call.signal), {
      ...logs,
      pinnedKeys: settings.trusted.pinnedKeys,
      listed: settings.trusted.listed,
      audience: settings.gateway,
      pinnedSigners: settings.trusted.pinnedSigners,
      ...(settings.trusted.domainTag !== null && { domainTag: settings.trusted.domainTag }),
      ...(folder !== null && { files: folderSource(folder, { openFile: root.openIfThere, mayFollow: root.mayRead }) }),
      rpc: primaryNode(settings, call.signal),
      onFiles: (some) => names.push(...some.slice(0, MOST_NAMES - names.length).map(({ filename }) => filename)),
    })
    const judged = { ...checked, path: '', names, found: [], receipt: null, decryption: null }
    return outcome(dataOf(wanted, receipt, checked), judged)
  } finally {
    await bundle.close()
  }
}

async function* unlessAborted(chunks: Chunks, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    yield chunk
  }
}

/** The result before any evidence is read. */
function withoutStatement({ receipt_id }: Wanted, receipt: ReceiptFacts | null): Data {
  const facts = receipt?.facts ?? []
  const failed = failedIn(facts)
  return {
    verdict: failed.length > 0 ? 'failed' : null,
    receipt_id: receipt_id ?? null,
    facts,
    failed,
    unchecked: [],
    left_out: [],
    refused: null,
    statement: null,
    counted: null,
    log: null,
  }
}

function dataOf(wanted: Wanted, receipt: ReceiptFacts | null, { verification, dsse }: Verified): Data {
  const base = withoutStatement(wanted, receipt)
  if (verification.refused) return { ...base, verdict: 'failed', refused: verification.refused }
  const report = reportOf({ verification, dsse, receipt: null })
  const ofBundle = Object.entries(report.facts).map(([name, fact]) =>
    reported(name, fact, FACT_MEANINGS[name as keyof typeof FACT_MEANINGS]),
  )
  const facts = [...base.facts, ...linkFacts(verification, receipt), ...ofBundle]
  const { statement, counted, unchecked, redacted, log } = report
  return {
    ...base,
    verdict: verdictOf(Object.fromEntries(facts.map((one) => [one.fact, one]))),
    receipt_id: base.receipt_id ?? report.receipt_id,
    facts,
    failed: failedIn(facts),
    unchecked,
    statement,
    counted,
    left_out: redacted?.left_out ?? [],
    log: log && { ...log, cosigned: log.cosigned.map(({ name, time }) => ({ name, at: isoSeconds(time) })) },
  }
}

function failedIn(facts: Data['facts']): string[] {
  return facts.filter(({ value }) => value === 'failed').map(({ fact }) => fact)
}

/** Whether the bundle belongs to the receipt; empty when no receipt was requested. */
function linkFacts(result: VerifiedBundle, of: ReceiptFacts | null): Data['facts'] {
  if (!of) return []
  const found = of.receipt
    ? receiptOfBundleFacts(of.receipt, result).receipt_is_of_bundle
    : notChecked('there is no trusted receipt')
  return [reported('bundle_names_receipt', found, RECEIPT_FACT_MEANINGS.bundle_names_receipt)]
}

function reported(fact: string, found: VerifierFact, means: string): Data['facts'][number] {
  return { fact, value: found.value, why: found.why ?? null, means }
}

/** `judged` is null without a statement. */
function outcome(data: Data, judged: Judged | null): Outcome<Data> {
  const { facts, log, left_out, receipt_id, statement, counted, unchecked } = data
  const text = [
    firstLine(data, judged),
    ...facts.map(({ fact, value, why }) => `${fact}: ${value}${why === null ? '' : ` (${why})`}`),
    ...(facts.length > 0 ? [FACT_VALUES] : []),
    ...(log ? [`Log: entry ${log.index} of ${log.size} in ${log.origin}.`] : []),
    ...(log?.cosigned ?? []).map(({ name, at }) => `Witness: ${name}, ${at}.`),
    ...left_out.map((what) => `Left out: ${what}.`),
  ]
  return { text: text.join('\n'), data, shown: { receipt_id, statement, counted, unchecked } }
}

const PLAIN: Style = { good: String, bad: String, dim: String, strong: String }

/** The verdict, like that of `svc verify`. */
function firstLine({ verdict, facts }: Data, judged: Judged | null): string {
  if (verdict === null) return 'NOTHING TO VERIFY: there is no statement yet. `attest` makes one.'
  const ofBundle = judged ? objections([judged], null, []) : []
  const named = new Set(ofBundle.map(({ what }) => what))
  const others = facts
    .filter(({ fact, value }) => value === 'failed' && !named.has(fact))
    .map(({ fact, why }) => ({ what: fact, why: `${fact}: ${why}` }))
  const objected = [...ofBundle, ...others]
  return verdictText({ verdict, judged: judged ? [judged] : [], chain: null, objected, audience: null }, PLAIN)
}
