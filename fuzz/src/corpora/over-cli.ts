// JSON cases as files for `svc verify`: alone, and inside a valid bundle.

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type JsonCase, KINDS, type Outcome } from './cases.ts'
import { jsonProblem } from './json-rule.ts'
import { type Examples, jsonReaders } from './readers.ts'

const PROGRAM = fileURLToPath(new URL('../../../apps/cli/bin/svc.mjs', import.meta.url))
interface Refused {
  code: string
  why: string
}

interface Judged {
  bundles: { refused: Refused | null }[]
}

/** The readers whose documents are bundles or envelopes, and the rejections there that concern JSON. */
const READERS: Record<string, (refused: Refused) => boolean> = {
  bundle: ({ code }) => code === 'not_strict_json',
  'field of a bundle': () => true,
  'file of a bundle': () => true,
  'field of a DSSE envelope': ({ code }) => code === 'not_strict_json',
}

export async function checkOverCli(examples: Examples, cases: readonly JsonCase[]): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-corpora-'))
  try {
    const problems: string[] = []
    let passed = 0
    for (const reader of jsonReaders(examples)) {
      const isAboutJson = READERS[reader.name]
      if (!isAboutJson) continue
      const texts = cases.map(({ bytes }) => reader.document(bytes))
      const judged = await verified(folder, texts)
      const found = problemsOf(cases, texts, judged, isAboutJson)
      problems.push(...found.map((problem) => `${reader.name}: ${problem}`))
      passed += typeof judged === 'string' ? 0 : cases.length - found.length
    }
    const kind = `${KINDS.json}, svc verify`
    return { kind, cases: Object.keys(READERS).length * cases.length, passed, problems, notes: [] }
  } finally {
    await rm(folder, { recursive: true })
  }
}

function problemsOf(
  cases: readonly JsonCase[],
  texts: readonly Uint8Array[],
  judged: Judged | string,
  isAboutJson: (refused: Refused) => boolean,
): string[] {
  if (typeof judged === 'string') return [`the program answered ${judged}`]
  return cases.flatMap((one, i) => {
    const bytes = texts[i] as Uint8Array
    const refused = judged.bundles[i]?.refused ?? null
    const objection = refused && isAboutJson(refused) ? `${refused.code}: ${refused.why}` : null
    const problem = jsonProblem(bytes === one.bytes ? one : { name: '', bytes }, objection)
    return problem ? [`${one.name}: ${problem}`] : []
  })
}

/** As many as fit into the arguments of one run. */
const AT_ONCE = 500

/** The output of the program when it is not a result. */
async function verified(folder: string, texts: readonly Uint8Array[]): Promise<Judged | string> {
  const judged: Judged = { bundles: [] }
  for (let at = 0; at < texts.length; at += AT_ONCE) {
    const some = await verifiedAtOnce(folder, texts.slice(at, at + AT_ONCE))
    if (typeof some === 'string') return some
    judged.bundles.push(...some.bundles)
  }
  return judged
}

async function verifiedAtOnce(folder: string, texts: readonly Uint8Array[]): Promise<Judged | string> {
  const files = texts.map((_, i) => join(folder, `${i}.json`))
  for (const [i, bytes] of texts.entries()) await writeFile(files[i] as string, bytes)
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder }
  const child = spawn(process.execPath, [PROGRAM, '--json', 'verify', ...files], { env })
  child.stdin.end()
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  try {
    return JSON.parse(output) as Judged
  } catch {
    return `${output.slice(0, 200)} ${errors.slice(0, 500)}`
  }
}
