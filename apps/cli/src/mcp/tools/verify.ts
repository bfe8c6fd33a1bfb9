import { isoSeconds } from '@svc/protocol/evidence'
import { folderSource } from '@svc/sdk/node'
import type { DsseFacts } from '@svc/verifier/dsse'
import { notChecked, type Fact as VerifierFact } from '@svc/verifier/facts'
import type { Chunks } from '@svc/verifier/read-bundle'
import { receiptFacts as receiptOfBundleFacts } from '@svc/verifier/receipt-facts'
import { verdictOf } from '@svc/verifier/verdict'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import Type, { type Static } from 'typebox'
import { reportOf } from '../../evidence/report.ts'
import { verifyChunks } from '../../evidence/verify-chunks.ts'
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

export const verify = tool({
  name: 'verify',
  title: 'Verify a receipt or a bundle',
  description:
    'Checks evidence here, without trusting the gateway: give `receipt_id` (its receipt and newest statement are ' +
    'fetched), or evidence as `path` below the root or as public https `url`: a bundle, complete or redacted, a DSSE ' +
    'envelope or a Sigstore bundle. With `folder`, also checks that the files in it are the listed ones. With `policy` ' +
    'or `log_keys`, also checks that a public log has the statement, and that enough witnesses vouch for it. Report the ' +
    'verdict with its facts: not_checked is not passed. Changes nothing.',
  annotations: READS,
  input: Type.Object(
    {
      receipt_id: Type.Optional(ReceiptId),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      url: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      sequence: Sequence,
      folder: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'Below the root.' })),
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
  const base = {
    verdict: null,
    receipt_id: wanted.receipt_id ?? null,
    facts: receipt?.facts ?? [],
    unchecked: [],
    left_out: [],
    refused: null,
    statement: null,
    log: null,
  }
  if (bundle === null)
    return outcome({ ...base, failed: [], counted: null }, 'There is no statement yet: call `attest` first.')
  try {
    const { verification: result, dsse } = await verifyChunks(unlessAborted(bundle.chunks, call.signal), {
      ...logs,
      pinnedKeys: settings.trusted.pinnedKeys,
      listed: settings.trusted.listed,
      audience: settings.gateway,
      pinnedSigners: settings.trusted.pinnedSigners,
      ...(settings.trusted.domainTag !== null && { domainTag: settings.trusted.domainTag }),
      ...(folder !== null && { files: folderSource(folder, { openFile: root.openIfThere, mayFollow: root.mayRead }) }),
      rpc: primaryNode(settings, call.signal),
    })
    if (result.refused) {
      return outcome(
        { ...base, verdict: 'failed', failed: [], refused: result.refused, counted: null },
        'This is not an evidence bundle.',
      )
    }
    return outcome({ ...base, ...described(result, dsse, base, linkFacts(result, receipt)) }, '')
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

function described(
  verification: VerifiedBundle,
  dsse: DsseFacts | null,
  { receipt_id, facts }: Pick<Data, 'receipt_id' | 'facts'>,
  links: Data['facts'],
) {
  const report = reportOf({ verification, dsse, receipt: null })
  const ofBundle = Object.entries(report.facts).map(([name, fact]) =>
    reported(name, fact, FACT_MEANINGS[name as keyof typeof FACT_MEANINGS]),
  )
  const all = [...facts, ...links, ...ofBundle]
  const { statement, counted, unchecked, redacted, log } = report
  return {
    verdict: verdictOf(Object.fromEntries(all.map((one) => [one.fact, one]))),
    receipt_id: receipt_id ?? report.receipt_id,
    facts: all,
    failed: [],
    unchecked,
    statement,
    counted,
    left_out: redacted?.left_out ?? [],
    log: log && { ...log, cosigned: log.cosigned.map(({ name, time }) => ({ name, at: isoSeconds(time) })) },
  }
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

function outcome(data: Data, note: string): Outcome<Data> {
  const failed = data.facts.filter(({ value }) => value === 'failed').map(({ fact }) => fact)
  const lines = data.facts.map(({ fact, value, why }) => `${fact}: ${value}${why === null ? '' : ` (${why})`}`)
  const refused = data.refused ? `Refused: ${data.refused.code} (${data.refused.why}).` : ''
  const leftOut = data.left_out.map((what) => `Left out: ${what}.`)
  const vouched = (data.log?.cosigned ?? []).map(({ name, at }) => `Witness: ${name}, ${at}.`)
  const verdict = data.verdict === null ? '' : `Verdict: ${data.verdict}.`
  const text = [
    note,
    verdict,
    refused,
    ...lines,
    ...vouched,
    ...leftOut,
    data.facts.length > 0 ? FACT_VALUES : '',
  ].filter((line) => line !== '')
  return { text: text.join('\n'), data: { ...data, failed } }
}
