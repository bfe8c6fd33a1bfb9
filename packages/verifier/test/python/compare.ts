// For tests: the same bundles for both verifiers, and where their facts differ.

import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
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

/** All cases of the pack that are JSON. */
export async function originals(): Promise<Original[]> {
  const found = await Promise.all(
    CASES.map(async ({ name, file, given: { rpc, ...given } }) => {
      try {
        const document = JSON.parse(new TextDecoder().decode(await packBytes(file)))
        const answers = rpc ? JSON.parse(new TextDecoder().decode(await packBytes(rpc))) : null
        return { name, document, given, answers }
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
  const verification = await verifyBundle([Buffer.from(text)], {
    ...usable,
    ...(answers && { rpc: recordedNode(answers) }),
  })
  if (verification.refused) return { refused: verification.refused.code }
  const facts = Object.entries(verification.facts).map(([name, fact]) => [name, fact.value])
  return { ...Object.fromEntries(facts), verdict: verdictOf(verification.facts) }
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
  if (one.refused && other.refused) return []
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
