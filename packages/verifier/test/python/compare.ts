// For tests: the same bundles for both verifiers, and where their facts differ.

import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { utf8 } from '@svc/protocol/bytes'
import { readReceipt, receiptFacts } from '../../src/receipt-facts.ts'
import type { Rpc } from '../../src/rpc.ts'
import { verdictOf } from '../../src/verdict.ts'
import { verifyBundle } from '../../src/verify-bundle.ts'
import { CASES, givenOf, packBytes } from '../pack.ts'
import type { Mutant, Original } from './mutants.ts'

export type Outcome = Record<string, string>

const ROOT = new URL('../../../../', import.meta.url)
const pathOf = (file: string) => fileURLToPath(new URL(file, ROOT))
export const VECTORS = pathOf('vectors')
export const VERIFIER = pathOf('verifiers/python/svc_verify.py')
export const RUN_PACK = pathOf('verifiers/python/test/run_pack.py')
export const LONG_BUNDLE = pathOf('verifiers/python/test/long_bundle.py')

const NOT_A_RECEIPT = 'not_a_receipt'

/** All cases of the pack that are JSON. */
export async function originals(): Promise<Original[]> {
  const found = await Promise.all(
    CASES.map(async ({ name, file, given: { rpc, receipt: receiptText, ...given } }) => {
      try {
        const document = JSON.parse(new TextDecoder().decode(await packBytes(file)))
        const answers = rpc ? JSON.parse(new TextDecoder().decode(await packBytes(rpc))) : null
        const receipt = receiptText === undefined ? null : JSON.parse(receiptText)
        return { name, document, given, answers, receipt }
      } catch {
        return null
      }
    }),
  )
  return found.filter((original) => original !== null)
}

export async function byTypeScript({ text, given, answers }: Mutant): Promise<Outcome> {
  let usable: Awaited<ReturnType<typeof givenOf>>
  try {
    usable = await givenOf(given)
  } catch {
    return { unusable: 'given' }
  }
  const receipt = given.receipt === undefined ? undefined : readReceipt(utf8(given.receipt))
  if (receipt === null) return { refused: NOT_A_RECEIPT }
  const verification = await verifyBundle([Buffer.from(text)], {
    ...usable,
    ...(answers && { rpc: recordedNode(answers) }),
  })
  if (verification.refused) return { refused: verification.refused.code }
  const facts = { ...verification.facts, ...(receipt && receiptFacts(receipt, verification)) }
  const values = Object.entries(facts).map(([name, fact]) => [name, fact.value])
  return { ...Object.fromEntries(values), verdict: verdictOf(facts) }
}

function recordedNode(answers: unknown): Rpc {
  return async (method, params) => {
    const question = JSON.stringify([method, params])
    const answer = (answers as { method: string; params: unknown; result?: unknown; error?: object }[]).find(
      (recorded) => JSON.stringify([recorded?.method, recorded?.params]) === question,
    )
    if (!answer || answer.error) throw new Error('no answer')
    return answer.result
  }
}

/** The facts that differ, the verdict included. A refused bundle may be refused for any of its defects. */
export function differencesOf(one: Outcome, other: Outcome): string[] {
  const isReceipt = [one, other].map(({ refused }) => refused === NOT_A_RECEIPT)
  if (one.refused && other.refused && isReceipt[0] === isReceipt[1]) return []
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((name) => one[name] !== other[name])
    .map((name) => `${name}: ${one[name]} and ${other[name]}`)
}

export async function byPython(mutants: readonly Mutant[]): Promise<Outcome[]> {
  const python = startProcess('python3', { args: [RUN_PACK, '--lines'] })
  for (const { text, given, answers } of mutants) {
    python.stdin.write(`${JSON.stringify({ bundle: Buffer.from(text).toString('base64'), given, answers })}\n`)
  }
  python.stdin.end()
  const { stdout, stderr } = await python.ended
  const lines = stdout.split('\n').filter(Boolean)
  if (lines.length !== mutants.length) throw new Error(`Python stopped after ${lines.length}: ${stderr}`)
  return lines.map((line) => JSON.parse(line))
}
