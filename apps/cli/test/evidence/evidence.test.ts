// Statements that the gateway signs for an owner, and that anyone can check.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toHex } from '@svc/protocol/bytes'
import type { DsseEnvelope, SigstoreBundle } from '@svc/protocol/dsse'
import { isoSeconds } from '@svc/protocol/evidence'
import { endorsementMessage, namedKey, revocationMessage, signedChange } from '@svc/protocol/key-changes'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { statementSigner } from '@svc/testbed/statement-signer'
import { formatKey } from '@svc/transparency/note'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type LockerHome, openLockerHome } from '../locker.ts'
import { jsonDocument, openHome } from '../world.ts'

let home: LockerHome
beforeAll(async () => {
  home = await openLockerHome()
  await writeFile(inHome('a.txt'), 'A')
  await svc('put', inHome('a.txt'))
})
afterAll(() => home.leave())
afterEach(() => home.house.proxy.behave())

const inHome = (name: string) => join(home.folder, name)

const svc = async (...args: string[]) => {
  const result = await home.svc(args)
  expect(result.exitCode, result.stderr + result.stdout).toBe(0)
  return result
}

describe('keys', () => {
  it('ADD-37 that a pinned key endorsed are followed, loudly and once; others stay strange', async () => {
    const { proxy, gateway } = home.house
    const old = statementSigner(gateway.context)
    const at = isoSeconds(Math.floor(gateway.context.now() / 1000))
    const lieWith = (seed: number, endorser = old) => {
      const endorsed = namedKey(toHex(ed25519Signer(new Uint8Array(32).fill(seed)).publicKey))
      const audience = proxy.url
      const keys = { endorser: namedKey(toHex(endorser.publicKey)), endorsed }
      const times = { valid_from: at, issued_at: at }
      const body = { schema: 'svc/key-endorsement/v1', purpose: 'statement', audience, ...keys, ...times } as const
      const endorsements = [signedChange(body, endorser.sign(endorsementMessage(body)))]
      const entry = { ...endorsed, alg: 'ed25519', use: 'receipt', status: 'active', valid_from: at }
      proxy.behave()
      proxy.always(/v1\/keys/, { lie: (list: object) => ({ ...list, keys: [entry], endorsements }) })
      return endorsed
    }
    const next = lieWith(21)
    const first = await svc('keys')
    expect(first.stderr).toContain(`THE GATEWAY HAS A NEW KEY, ${next.public_key_hex}`)
    expect((await svc('keys')).stderr).not.toContain('NEW KEY')
    expect((await svc('whoami')).stdout).toContain('2 keys pinned')
    const stranger = ed25519Signer(new Uint8Array(32).fill(22))
    const { key_id } = lieWith(23, stranger)
    const refused = await home.svc(['keys'])
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining(key_id)])
  })

  it('ADD-39 T-40 that are revoked are found among any number of other revocations, and kept', async () => {
    const { proxy, gateway } = home.house
    const own = await openHome({ SVC_GATEWAY: proxy.url })
    const statement = statementSigner(gateway.context)
    const at = isoSeconds(Math.floor(gateway.context.now() / 1000) - 3600)
    const revocation = (by: Ed25519Signer) => {
      const key = namedKey(toHex(by.publicKey))
      const keys = { audience: proxy.url, revoked: key, revoked_by: key }
      const body = { schema: 'svc/key-revocation/v1', purpose: 'statement', ...keys, since: at, issued_at: at } as const
      return signedChange(body, by.sign(revocationMessage(body)))
    }
    const isWarned = async (revocations: object[]) => {
      proxy.behave()
      proxy.always(/v1\/keys/, { lie: (list: object) => ({ ...list, revocations }) })
      return (await own.svc(['keys'])).stderr.includes('was revoked as of')
    }
    const junk = Array.from({ length: 70 }, (_, i) => revocation(ed25519Signer(new Uint8Array(32).fill(90 + i))))
    await own.svc(['keys', 'pin', toHex(statement.publicKey)])
    const warned = [await isWarned(junk), await isWarned([...junk, revocation(statement)]), await isWarned([])]
    expect(warned).toEqual([false, true, true])
    await own.leave()
  })
})

describe('evidence', () => {
  it('ATT-06 EVID-11 MERK-17 VER-01 CLI-02 two attestations verify, each on its own and together as a chain', async () => {
    expect((await home.svc(['push'])).stderr).toContain('svc attest')
    expect((await svc('attest')).stdout).toMatch(/statement +1\n(.*\n)*signed by .* the signature holds/)
    expect((await svc('attest')).stdout).toContain('nothing has changed')
    await svc('put', inHome('a.txt'), '--as', 'later.txt')
    expect(jsonDocument<{ attestation: object }>((await svc('attest', '--json')).stdout).attestation).toMatchObject({
      evidence_seq: 2,
    })
    const bundles = [inHome('1.json'), inHome('2.json')] as const
    await svc('bundle', '--statement', '1', '-o', bundles[0])
    await svc('bundle', '-o', bundles[1])
    await writeFile(inHome('piped.json'), (await svc('bundle')).stdout)
    expect(await readFile(inHome('piped.json'), 'utf8')).toBe(await readFile(bundles[1], 'utf8'))
    await svc('get', '-o', inHome('attested'))
    const verified = await svc('verify', bundles[1], '--dir', inHome('attested'), '--require', 'key_pinned,files_match')
    expect(verified.stdout).toContain('✓ files_match')
    expect((await svc('verify', ...bundles)).stdout).toContain('✓ unbroken chain: statements 1, 2')
    expect((await svc('statements')).stdout).toMatch(/NO +ISSUED .*\n +1 .*\n +2 /)
    expect((await svc('proof', 'later.txt')).stdout).toMatch(/statement +2, (.*)\nsigned by +[0-9a-f]{64}, pinned\n/)
    expect((await home.svc(['proof', 'later.txt', '--statement', '1'])).exitCode).toBe(1)
  })

  it('MERK-19 T-38 a proof is called checked only under a signed statement and a pinned key', async () => {
    home.house.proxy.always(/storage\/statements/, { lie: (list: object) => ({ ...list, statements: [] }) })
    const unsigned = await home.svc(['proof', 'later.txt'])
    expect(unsigned).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('consistent, signer unknown') })
    home.house.proxy.behave()
    const stranger = await openHome({ SVC_GATEWAY: home.house.proxy.url })
    const { receipt_id } = jsonDocument<{ receipt_id: string }>((await svc('receipt', '--json')).stdout)
    const unpinned = await stranger.svc(['proof', 'later.txt', '-l', receipt_id])
    expect([unpinned.exitCode, unpinned.stdout]).toEqual([0, expect.stringContaining('consistent, signer unknown')])
    expect(unpinned.stderr).toContain('no key of the gateway is pinned')
    await stranger.leave()
  })

  it('ADD-18 T-58 a bundle comes with a warning, and a redacted one proves chosen files or all, and opens none', async () => {
    const { receipt_id } = jsonDocument<{ receipt_id: string }>((await svc('receipt', '--json')).stdout)
    const whole = await svc('bundle', '-o', inHome('whole.json'))
    expect(whole.stderr).toMatch(/can open every file .*`svc bundle --redact`/s)
    const quiet = await svc('bundle', '-o', inHome('whole.json'), '--json')
    expect([quiet.stderr, jsonDocument(quiet.stdout)]).toEqual(['', expect.objectContaining({ receipt_id })])

    const chosen = await svc('bundle', '--redact', '--file', 'later.txt', '-o', inHome('chosen.json'))
    expect(chosen.stdout).toContain('proves 1 of 2 files')
    expect(chosen.stderr).not.toContain('can open')
    const unnamed = await svc('bundle', '--redact', '-o', inHome('unnamed.json'), '--json')
    expect(jsonDocument(unnamed.stdout)).toMatchObject({ redaction: 'no_names', files_shown: 0, files: 2 })
    const texts = [await readFile(inHome('chosen.json'), 'utf8'), await readFile(inHome('unnamed.json'), 'utf8')]
    for (const text of texts) expect(text).not.toMatch(/rcpt_|locker_|a\.txt/)
    expect((await svc('bundle', '--redact')).stdout).toBe(texts[1])
    await svc('bundle', '--redact', '--from', inHome('whole.json'), '--file', 'later.txt', '-o', inHome('local.json'))
    expect(await readFile(inHome('local.json'), 'utf8')).toBe(texts[0])

    const verified = await svc(
      'verify',
      inHome('chosen.json'),
      '--dir',
      inHome('attested'),
      '--require',
      'inclusion_proven',
    )
    expect(verified.stdout).toMatch(/✓ files_match(.*\n)*✓ inclusion_proven(.*\n)*left out +1 of 2 files/)
    expect(verified.stdout).toMatch(/receipt +not named/)
    const required = await home.svc(['verify', inHome('chosen.json'), '--require', 'merkle_root_matches'])
    expect(required).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('merkle_root_matches is required, and not_checked'),
    })
    await svc(
      'verify',
      inHome('unnamed.json'),
      '--dir',
      inHome('attested'),
      '--require',
      'files_match,merkle_root_matches',
    )
    const { bundles } = jsonDocument<{ bundles: [{ redacted: object }] }>(
      (await svc('verify', inHome('chosen.json'), '--json')).stdout,
    )
    expect(bundles[0].redacted).toMatchObject({ redaction: 'chosen_files', files_shown: 1, files: 2 })
  })

  it('T-49 a bundle comes without that warning while the receipt id opens no file', async () => {
    const opens = async () => (await svc('bundle', '-o', inHome('whole.json'))).stderr.includes('can open every file')
    await svc('attest')
    await svc('link', 'close')
    const { stderr } = await svc('bundle', '-o', inHome('whole.json'))
    expect(stderr).toMatch(/lists all file names, sizes and hashes.*opens no file/)
    expect(await opens()).toBe(false)
    await svc('link', 'open')
    expect(await opens()).toBe(true)
    await svc('link', 'rotate', '--yes')
    expect(await opens()).toBe(false)
    const stranger = await home.svc(['bundle', '-o', inHome('whole.json')], { env: { SVC_WALLET: '/nowhere' } })
    expect(stranger).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('opens no file') })
  })

  it('DSSE-09 svc bundle --format writes what verifiers of DSSE and Sigstore read, and names no receipt', async () => {
    const written = await svc('bundle', '--format', 'dsse', '-o', inHome('dsse.json'))
    expect(written.stderr).not.toContain('can open')
    const envelope: DsseEnvelope = JSON.parse(await readFile(inHome('dsse.json'), 'utf8'))
    const subjects = ({ payload }: DsseEnvelope): string[] =>
      JSON.parse(Buffer.from(payload, 'base64').toString()).subject.map(({ name }: { name: string }) => name)
    expect(subjects(envelope)).toContain('later.txt')
    expect(Buffer.from(envelope.payload, 'base64').toString()).not.toContain('rcpt_')
    const asked = ['--format', 'sigstore', '--file', 'a.txt', '--statement', '1']
    const bundle: SigstoreBundle = JSON.parse((await svc('bundle', ...asked)).stdout)
    expect(bundle.mediaType).toBe('application/vnd.dev.sigstore.bundle.v0.3+json')
    expect(subjects(bundle.dsseEnvelope)).toEqual(['a.txt'])

    const required = ['--dir', inHome('attested'), '--require', 'dsse_signed,dsse_subjects_match,files_match']
    const verified = await svc('verify', inHome('dsse.json'), ...required)
    expect(verified.stdout).toMatch(/✓ merkle_root_matches(.*\n)*✓ dsse_signed/)
    await writeFile(inHome('forged.json'), JSON.stringify({ ...envelope, signatures: bundle.dsseEnvelope.signatures }))
    const forged = await home.svc(['verify', inHome('forged.json')])
    expect([forged.exitCode, forged.stderr]).toEqual([3, expect.stringContaining('dsse_signed')])
  })

  it('ADD-18 svc bundle --redact says what it cannot do, and leaves no file behind', async () => {
    const out = inHome('not-made.json')
    for (const [args, why] of [
      [['--file', 'later.txt'], '--file goes with --redact or --format'],
      [['--redact', '--format', 'dsse'], 'leave out --redact'],
      [['--format', 'dsse', '--file', 'a.txt', '--file', 'later.txt'], 'names one file'],
      [['--format', 'dsse', '--file', 'nowhere.txt'], 'FILE_NOT_ATTESTED'],
      [['--from', inHome('whole.json')], '--from goes with --redact'],
      [['--redact', '--file', 'nowhere.txt'], 'lists no "nowhere.txt"'],
      [['--redact', '--from', inHome('chosen.json')], 'redacted already'],
      [['--redact', '--from', inHome('missing.json')], 'cannot be read'],
      [['--redact', '--from', inHome('a.txt')], 'not a bundle'],
      [['--redact', '--from', inHome('whole.json'), '--statement', '1'], 'leave out'],
    ] as const) {
      const { exitCode, stderr } = await home.svc(['bundle', ...args, '-o', out])
      expect([exitCode === 0, stderr], why).toEqual([false, expect.stringContaining(why)])
    }
    expect((await readdir(home.folder)).filter((name) => name.startsWith('not-made'))).toEqual([])
  })

  it('EVID-11 svc statements detects a chain whose first statement the gateway withholds', async () => {
    home.house.proxy.always(/statements/, {
      lie: (body: { statements: object[] }) => ({ ...body, statements: body.statements.slice(1) }),
    })
    expect(await home.svc(['statements'])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('statement 2'),
    })
  })

  it('VER-01 svc attest rejects a statement signed by an untrusted key', async () => {
    home.house.proxy.always(/storage\/attest/, {
      lie: (body: { attestation: { envelope: { issuer_pubkey: string } } }) => {
        body.attestation.envelope.issuer_pubkey = '22'.repeat(32)
        return body
      },
    })
    expect(await home.svc(['attest'])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('not a trusted key'),
    })
  })
})

describe('the log', () => {
  it('LOG-45 LOG-52 is pinned with the keys, and another one is strange until it is pinned in its place', async () => {
    const { proxy, gateway } = home.house
    await gateway.rooms.log.publish()
    const vkey = formatKey(gateway.rooms.log.identity.key)
    const { stdout } = await svc('keys', 'pin', '--replace')
    expect(stdout.trimEnd()).toMatch(/^1 key of \S+ pinned: [0-9a-f]{64}, and 1 log: /)
    expect(stdout.trimEnd().endsWith(`: ${vkey}`)).toBe(true)
    expect((await svc('keys')).stdout).toMatch(/ log +active +yes/)
    await svc('bundle', '-o', inHome('logged.json'))
    await svc('verify', inHome('logged.json'), '--require', 'log_included')

    const other = formatKey({ ...gateway.rooms.log.identity.key, name: 'other.example/log' })
    const list = (...vkeys: string[]) => {
      const logs = vkeys.map((key) => ({ origin: key.split('+')[0], vkey: key }))
      proxy.behave()
      proxy.always(/v1\/keys/, { lie: (keys: object) => ({ ...keys, logs }) })
    }
    // Also where the old one is listed behind it, as one that has ended.
    for (const vkeys of [[other, vkey], [other]]) {
      list(...vkeys)
      for (const args of [['keys'], ['keys', 'pin']])
        expect(await home.svc(args)).toMatchObject({
          exitCode: 3,
          stderr: expect.stringContaining(`not pinned: ${other}`),
        })
    }
    await svc('keys', 'pin', '--replace')
    const refused = await home.svc(['verify', inHome('logged.json')])
    expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('log_included') })
    await svc('verify', inHome('logged.json'), '--log-key', vkey, '--require', 'log_included')
    list(other, vkey)
    await svc('keys', 'pin', '--replace')
    await svc('verify', inHome('logged.json'), '--require', 'log_included')
  })
})
