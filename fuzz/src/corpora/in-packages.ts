// The cases in our own packages: on a server, with the modules for browsers, and in Chromium. All verdicts must be one.

import * as forBrowsers from '@svc/protocol/crypto-noble'
import { ed25519PublicKey } from '@svc/protocol/keys'
import { isValidByRule } from '@svc/protocol/test/ed25519-rule'
import type { Corpora, JsonCase, Outcome, SignatureCase } from './cases.ts'
import { isRefusedByRule, jsonProblem } from './json-rule.ts'
import type { PageAnswer } from './programs/in-browser.ts'
import { type Examples, type JsonReader, jsonReaders, type Objection, readAll } from './readers.ts'
import { verdictsOn } from './signatures.ts'

/** `inPage` is what Chromium says of the same cases; null where it was not asked. */
export async function checkInPackages(
  examples: Examples,
  { json, ed25519 }: Corpora,
  inPage: PageAnswer | null,
): Promise<Outcome[]> {
  const objections = await readAll(
    examples,
    json.map(({ bytes }) => bytes),
  )
  const readers = jsonReaders(examples).map((reader) => {
    const { name } = reader
    return readerOutcome(reader, json, objections[name] ?? [], inPage?.objections[name] ?? null)
  })
  return [...(json.length > 0 ? readers : []), ...(ed25519.length > 0 ? [await signatureOutcome(ed25519, inPage)] : [])]
}

function readerOutcome(
  { name, document }: JsonReader,
  cases: readonly JsonCase[],
  found: readonly Objection[],
  inPage: readonly Objection[] | null,
): Outcome {
  const problems = cases.flatMap((one, i) => {
    const objection = found[i] ?? null
    const bytes = document(one.bytes)
    // Inside of another document, a case may mean something else: only the strict reader can say.
    const asked = bytes === one.bytes ? one : { name: '', bytes }
    const problem = jsonProblem(asked, objection)
    const differs = inPage !== null && inPage[i] !== objection
    return [
      ...(problem ? [`${one.name}: ${problem}`] : []),
      ...(differs ? [`${one.name}: ${objection} on a server, ${inPage[i]} in Chromium`] : []),
    ]
  })
  const byRule = name === 'strict reader' ? cases.filter(isRefusedByRule).map((one) => one.name) : []
  const notes = byRule.length === 0 ? [] : [`refused although they are JSON, by rule (ADD-05): ${byRule.join(', ')}`]
  return { kind: `JSON, ${name}`, cases: cases.length, problems, notes }
}

async function signatureOutcome(cases: readonly SignatureCase[], inPage: PageAnswer | null): Promise<Outcome> {
  const problems: string[] = []
  let valid = 0
  for (const [i, one] of cases.entries()) {
    const expected = isValidByRule(one)
    if (expected) valid++
    if (one.isValid !== null && one.isValid !== expected)
      problems.push(`${one.name}: the corpus says ${one.isValid}, our rule ${expected}`)
    const verdicts = {
      ...(await verdictsOn(one)),
      'modules for browsers': isValidInBrowsers(one),
      ...Object.fromEntries(
        Object.entries(inPage?.verdicts[i] ?? {}).map(([name, verdict]) => [`${name} in Chromium`, verdict]),
      ),
    }
    for (const [name, verdict] of Object.entries(verdicts))
      if (verdict !== expected) problems.push(`${one.name}: ${name} says ${verdict}, our rule ${expected}`)
  }
  return { kind: 'Ed25519', cases: cases.length, problems, notes: [`${valid} are valid by our rule (ADD-04)`] }
}

function isValidInBrowsers({ publicKey, message, signature }: SignatureCase): boolean {
  return ed25519PublicKey(publicKey) !== null && forBrowsers.ed25519Verifier(publicKey).verify(message, signature)
}
