// The examples of docs/http.md: each program signs the documented bytes, which are the bytes of the vectors. An example
// is skipped when its language is not installed.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { fromHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { personalSignEnvelope, type RequestEnvelope, signEnvelope } from '@svc/protocol/request-envelope'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { afterAll, describe, expect, it } from 'vitest'
import vectors from '../vectors/protocol.json' with { type: 'json' }

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-examples-'))
afterAll(() => rmSync(folder, { recursive: true }))

const page = readFileSync(join(root, 'docs/http.md'), 'utf8')
const fences = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code]) => ({
  language: language as string,
  code: code as string,
}))
const [ofOwner, ofEvmOwner] = fences.filter(({ code }) => code.startsWith('X-Svc-Envelope: ')).map(({ code }) => code)

const run = (command: string, ...args: string[]) =>
  startProcess(command, { args, cwd: root, env: { HOME: folder } }).ended

/** The first line that a command prints; null if the command is missing or fails. */
async function versionBy(command: string, ...args: string[]): Promise<string | null> {
  const { code, stdout } = await run(command, ...args)
  return code === 0 ? (stdout.split('\n')[0] as string) : null
}

/** LibreSSL, and versions before 3, cannot sign with Ed25519 from a shell. */
async function opensslVersion(): Promise<string | null> {
  const version = await versionBy('openssl', 'version')
  return /^OpenSSL [3-9]\S+/.exec(version ?? '')?.[0] ?? null
}

const PYTHON =
  'import platform, cryptography as c; print("Python", platform.python_version(), "cryptography", c.__version__)'
/** Writes the key of the example into the folder of this test. */
const SHELL = fences
  .find(({ code }) => code.includes('signed_headers'))
  ?.code.replace('KEY=example.pem', `KEY=${folder}/example.pem`)
  .replace(/^echo.*/m, '')

const EXAMPLES = [
  { name: 'shell', found: await opensslVersion(), command: ['bash', '-euo', 'pipefail', '-c', String(SHELL)] },
  {
    name: 'Python',
    found: await versionBy('python3', '-c', PYTHON),
    command: ['python3', 'docs/examples/envelope.py'],
  },
  { name: 'Go', found: await versionBy('go', 'version'), command: ['go', 'run', 'docs/examples/envelope.go'] },
]

describe('the examples of docs/http.md', () => {
  const [create, , , , provision] = vectors.signed_requests.cases
  const envelopeOf = (request: { envelope_json: string } | undefined) =>
    parseStrictJson(utf8(request?.envelope_json ?? ''), 4096) as unknown as RequestEnvelope
  const lines = ({ envelope, signature }: { envelope: string; signature: string }) =>
    `X-Svc-Envelope: ${envelope}\nX-Svc-Signature: ${signature}\n`

  it('ENV-01 ENV-02 our own code signs the documented bytes', () => {
    const signer = ed25519Signer(fromHex(vectors.keys.owner_ed25519.seed_hex) as Uint8Array)
    expect(lines(signEnvelope(envelopeOf(create), signer))).toBe(ofOwner)
  })

  it.for(EXAMPLES)(
    'ENV-01 ENV-02 $name signs the documented bytes ($found)',
    { tags: ['nightly'] },
    async ({ found, command: [program = '', ...args] }, { skip }) => {
      skip(found === null, 'not installed')
      expect(await run(program, ...args)).toMatchObject({ code: 0, stdout: ofOwner })
    },
  )

  it('ENV-03 an EVM wallet signs the documented bytes with viem', { tags: ['nightly'] }, async () => {
    const key = fromHex(vectors.keys.owner_evm.private_key_hex) as Uint8Array
    expect(lines(personalSignEnvelope(envelopeOf(provision), key))).toBe(ofEvmOwner)
    const printed = await run(process.execPath, 'docs/examples/envelope-evm.mjs')
    expect(printed).toMatchObject({ code: 0, stdout: ofEvmOwner })
  })

  it('T-55 the shell signs the address of the gateway when the envelope names no locker', async () => {
    const script = '. docs/examples/envelope.sh; GATEWAY=http://gateway.test envelope GET /v1/lockers locker:list'
    const { stdout } = await run('bash', '-euo', 'pipefail', '-c', script)
    expect(stdout).toMatch(/^\{"aud":"http:\/\/gateway\.test","body_sha256":"",/)
    expect(envelopeOf({ envelope_json: stdout })).toMatchObject({ locker_id: '', receipt_id: '', ops: ['locker:list'] })
  })

  it('ENV-04 the page contains the exact envelope that is signed', () => {
    expect(fences.find(({ language }) => language === 'json')?.code.trimEnd()).toBe(create?.envelope_json)
  })
})
