// Statements that the gateway signs for an owner, and that anyone can check.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { toHex } from '@svc/protocol/bytes'
import type { DsseEnvelope, SigstoreBundle } from '@svc/protocol/dsse'
import { namedKey } from '@svc/protocol/key-changes'
import { ed25519Signer } from '@svc/protocol/keys'
import { formatKey } from '@svc/protocol/transparency/note'
import { endorsement } from '@svc/sdk/test/key-changes'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { exits, includes, jsonDocument, openHome, type TestHome } from '../host.ts'
import { useLockerHome } from '../locker.ts'

const home = useLockerHome()
const ok = (...args: string[]) => home.ok(...args)
const svc = (...args: string[]) => home.svc(args)
const path = (name: string) => home.path(name)

/** Statement 1 is about a.txt, statement 2 about later.txt too. */
beforeAll(async () => {
  const folder = await home.write('attested', { 'a.txt': 'A', 'later.txt': 'A' })
  await ok('put', `${folder}/a.txt`)
  await ok('attest')
  await ok('put', folder)
  await ok('attest')
  await ok('bundle', '-o', path('whole.json'))
})

/** A machine that knows only the address of the gateway. */
async function newHome(): Promise<TestHome> {
  const other = await openHome({ SVC_GATEWAY: home.testbed.proxy.url })
  onTestFinished(other.leave)
  return other
}

const keyOf = (seed: number) => ed25519Signer(new Uint8Array(32).fill(seed))

describe('keys', () => {
  const lie = (change: (keys: object) => object) => {
    home.testbed.proxy.behave()
    home.testbed.proxy.always(/v1\/keys/, { lie: change })
  }
  const at = () => Math.floor(home.testbed.gateway.context.now() / 1000)
  const audience = () => home.testbed.proxy.url
  const statement = () => statementSigner(home.testbed.gateway.context)

  it('ADD-37 are trusted if a pinned key endorsed them, with one warning, and rejected otherwise', async () => {
    const own = await newHome()
    await own.ok('keys', 'pin', toHex(statement().publicKey))
    const show = (seed: number, by = statement()) => {
      const endorsements = [endorsement({ audience: audience(), by, of: keyOf(seed), at: at() })]
      const named = namedKey(toHex(keyOf(seed).publicKey))
      const entry = { ...named, alg: 'ed25519', use: 'receipt', status: 'active', valid_from: '2026-01-01T00:00:00Z' }
      lie((list) => ({ ...list, keys: [entry], endorsements }))
      return named
    }
    const next = show(21)
    expect((await own.ok('keys')).stderr).toContain(`THE GATEWAY HAS A NEW KEY, ${next.public_key_hex}`)
    expect((await own.ok('keys')).stderr).not.toContain('NEW KEY')
    expect((await own.ok('whoami')).stdout).toContain('2 keys pinned')
    const { key_id } = show(23, keyOf(22))
    expect(await own.svc(['keys'])).toMatchObject(exits(3, key_id))
  })
})

describe('evidence', () => {
  it('ATT-06 svc push suggests svc attest when there is no statement, and svc attest shows the new one', async () => {
    const { receipt_id } = await home.testbed.locker(home.signer)
    await ok('put', path('attested/a.txt'), '-l', receipt_id)
    expect((await svc('push', '-l', receipt_id)).stderr).toContain('svc attest')
    const { stdout } = await ok('attest', '-l', receipt_id)
    expect(stdout).toMatch(/statement +1\n(.*\n)*signed by .* the signature is valid/)
  })

  it('ATT-06 MERK-17 two attestations verify, each on its own and together as a chain', async () => {
    expect((await ok('attest')).stdout).toContain('nothing has changed')
    await ok('bundle', '--statement', '1', '-o', path('1.json'))
    expect((await ok('bundle')).stdout).toBe(await readFile(path('whole.json'), 'utf8'))
    const required = ['--dir', path('attested'), '--require', 'key_pinned,files_match']
    expect((await ok('verify', path('whole.json'), ...required)).stdout).toContain('✓ files_match')
    const chain = await ok('verify', path('1.json'), path('whole.json'))
    expect(chain.stdout).toContain('✓ unbroken chain: statements 1, 2')
    expect((await ok('statements')).stdout).toMatch(/NO +ISSUED .*\n +1 .*\n +2 /)
    expect((await ok('proof', 'later.txt')).stdout).toMatch(/statement +2, (.*)\nsigned by +[0-9a-f]{64}, pinned\n/)
    expect(await svc('proof', 'later.txt', '--statement', '1')).toMatchObject({ exitCode: 1 })
  })

  it('MERK-19 T-38 a proof counts as checked only with a signed statement and a pinned key', async () => {
    const unpinned = await (await newHome()).ok('proof', 'later.txt', '-l', home.receiptId)
    expect(unpinned.stdout).toContain('consistent, signer unknown')
    expect(unpinned.stderr).toContain('no key of the gateway is pinned')
    home.testbed.proxy.always(/storage\/statements/, { lie: (list: object) => ({ ...list, statements: [] }) })
    const unsigned = await svc('proof', 'later.txt')
    expect(unsigned).toMatchObject({ exitCode: 3, stdout: includes('consistent, signer unknown') })
  })

  it('ADD-18 T-33 a redacted bundle proves chosen files or all, and opens none', async () => {
    const chosen = await ok('bundle', '--redact', '--file', 'later.txt', '-o', path('chosen.json'))
    expect(chosen.stdout).toContain('proves 1 of 2 files')
    expect(chosen.stderr).not.toContain('can open')
    const unnamed = await home.json('bundle', '--redact', '-o', path('unnamed.json'))
    expect(unnamed).toMatchObject({ redaction: 'no_names', files_shown: 0, files: 2 })
    const texts = [await readFile(path('chosen.json'), 'utf8'), await readFile(path('unnamed.json'), 'utf8')]
    for (const text of texts) expect(text).not.toMatch(/rcpt_|locker_|a\.txt/)
    expect((await ok('bundle', '--redact')).stdout).toBe(texts[1])
    await ok('bundle', '--redact', '--from', path('whole.json'), '--file', 'later.txt', '-o', path('local.json'))
    expect(await readFile(path('local.json'), 'utf8')).toBe(texts[0])

    const dir = ['--dir', path('attested'), '--require']
    const verified = await ok('verify', path('chosen.json'), ...dir, 'inclusion_proven')
    expect(verified.stdout).toMatch(/✓ files_match(.*\n)*✓ inclusion_proven(.*\n)*left out +1 of 2 files/)
    expect(verified.stdout).toMatch(/receipt +not named/)
    const required = await svc('verify', path('chosen.json'), '--require', 'merkle_root_matches')
    expect(required).toMatchObject(exits(3, 'merkle_root_matches is required, and not_checked'))
    await ok('verify', path('unnamed.json'), ...dir, 'files_match,merkle_root_matches')
    const { bundles } = await home.json<{ bundles: object[] }>('verify', path('chosen.json'))
    expect(bundles).toMatchObject([{ redacted: { redaction: 'chosen_files', files_shown: 1, files: 2 } }])
  })

  it('ADD-18 T-49 a bundle comes with a warning, unless the receipt id opens no file', async () => {
    const { receipt_id } = await home.testbed.locker(home.signer)
    await ok('put', path('attested/a.txt'), '-l', receipt_id)
    await ok('attest', '-l', receipt_id)
    const bundle = (...more: string[]) => ok('bundle', '-l', receipt_id, '-o', path('linked.json'), ...more)
    const opens = async () => (await bundle()).stderr.includes('can open every file')
    expect((await bundle()).stderr).toMatch(/can open every file .*`svc bundle --redact`/s)
    const quiet = await bundle('--json')
    expect([quiet.stderr, jsonDocument(quiet.stdout)]).toEqual(['', expect.objectContaining({ receipt_id })])
    await ok('link', 'close', '-l', receipt_id)
    expect((await bundle()).stderr).toMatch(/lists all file names, sizes and hashes.*opens no file/)
    expect(await opens()).toBe(false)
    await ok('link', 'open', '-l', receipt_id)
    expect(await opens()).toBe(true)
    await ok('link', 'rotate', '--yes', '-l', receipt_id)
    expect(await opens()).toBe(false)
    const other = await (await newHome()).ok('bundle', '-l', receipt_id, '-o', path('linked.json'))
    expect(other.stderr).toContain('opens no file')
  })

  it('DSSE-09 svc bundle --format writes DSSE envelopes and Sigstore bundles that name no receipt', async () => {
    const written = await ok('bundle', '--format', 'dsse', '-o', path('dsse.json'))
    expect(written.stderr).not.toContain('can open')
    const envelope: DsseEnvelope = JSON.parse(await readFile(path('dsse.json'), 'utf8'))
    const payloadOf = ({ payload }: DsseEnvelope) => Buffer.from(payload, 'base64').toString()
    expect(payloadOf(envelope)).not.toContain('rcpt_')
    const asked = ['--format', 'sigstore', '--file', 'a.txt', '--statement', '1']
    const bundle: SigstoreBundle = JSON.parse((await ok('bundle', ...asked)).stdout)
    expect(bundle.mediaType).toBe('application/vnd.dev.sigstore.bundle.v0.3+json')
    expect(JSON.parse(payloadOf(bundle.dsseEnvelope)).subject).toMatchObject([{ name: 'a.txt' }])

    const required = ['--dir', path('attested'), '--require', 'dsse_signed,dsse_subjects_match,files_match']
    const verified = await ok('verify', path('dsse.json'), ...required)
    expect(verified.stdout).toMatch(/✓ merkle_root_matches(.*\n)*✓ dsse_signed/)
    await writeFile(path('forged.json'), JSON.stringify({ ...envelope, signatures: bundle.dsseEnvelope.signatures }))
    expect(await svc('verify', path('forged.json'))).toMatchObject(exits(3, 'dsse_signed'))
  })

  it('ADD-18 svc bundle rejects invalid combinations of options, and leaves no file behind', async () => {
    await ok('bundle', '--redact', '-o', path('redacted.json'))
    for (const [args, why] of [
      [['--file', 'later.txt'], '--file needs --redact or --format'],
      [['--redact', '--format', 'dsse'], 'leave out --redact'],
      [['--format', 'dsse', '--file', 'a.txt', '--file', 'later.txt'], 'give --file only once'],
      [['--format', 'dsse', '--file', 'nowhere.txt'], 'FILE_NOT_ATTESTED'],
      [['--from', path('whole.json')], '--from needs --redact'],
      [['--redact', '--file', 'nowhere.txt'], 'lists no "nowhere.txt"'],
      [['--redact', '--from', path('redacted.json')], 'already redacted'],
      [['--redact', '--from', path('missing.json')], 'cannot be read'],
      [['--redact', '--from', path('attested/a.txt')], 'cannot be redacted'],
      [['--redact', '--from', path('whole.json'), '--statement', '1'], 'leave out'],
    ] as const) {
      const { exitCode, stderr } = await svc('bundle', ...args, '-o', path('not-made.json'))
      expect([exitCode === 0, stderr], why).toEqual([false, includes(why)])
    }
    expect((await readdir(home.folder)).filter((name) => name.startsWith('not-made'))).toEqual([])
  })

  it('EVID-11 svc statements detects a chain whose first statement the gateway withholds', async () => {
    home.testbed.proxy.always(/statements/, {
      lie: (body: { statements: object[] }) => ({ ...body, statements: body.statements.slice(1) }),
    })
    expect(await svc('statements')).toMatchObject(exits(3, 'statement 2'))
  })
})

describe('the log', () => {
  it('LOG-45 LOG-52 is pinned with the keys, and another log is rejected until it is pinned in its place', async () => {
    const { proxy, gateway } = home.testbed
    const own = await newHome()
    await gateway.context.publishLog()
    const vkey = formatKey(gateway.context.logIdentity.key)
    const { stdout } = await own.ok('keys', 'pin')
    expect(stdout.trimEnd()).toMatch(/^1 key of \S+ pinned: [0-9a-f]{64}, and 1 log: /)
    expect(stdout.trimEnd().endsWith(`: ${vkey}`)).toBe(true)
    expect((await own.ok('keys')).stdout).toMatch(/ log +active +yes/)
    const logged = path('logged.json')
    const isIncluded = (...more: string[]) => own.svc(['verify', logged, ...more, '--require', 'log_included'])
    await own.ok('bundle', '-l', home.receiptId, '-o', logged)
    expect(await isIncluded()).toMatchObject({ exitCode: 0 })

    const other = formatKey({ ...gateway.context.logIdentity.key, name: 'other.example/log' })
    const list = (...vkeys: string[]) => {
      const logs = vkeys.map((key) => ({ origin: key.split('+')[0], vkey: key }))
      proxy.behave()
      proxy.always(/v1\/keys/, { lie: (keys: object) => ({ ...keys, logs }) })
    }
    // Also when the list still contains the old log after the new one.
    for (const vkeys of [[other, vkey], [other]]) {
      list(...vkeys)
      for (const args of [['keys'], ['keys', 'pin']])
        expect(await own.svc(args)).toMatchObject(exits(3, `not pinned: ${other}`))
    }
    await own.ok('keys', 'pin', '--replace')
    expect(await isIncluded()).toMatchObject(exits(3, 'log_included'))
    expect(await isIncluded('--log-key', vkey)).toMatchObject({ exitCode: 0 })
    list(other, vkey)
    await own.ok('keys', 'pin', '--replace')
    expect(await isIncluded()).toMatchObject({ exitCode: 0 })
  })
})
