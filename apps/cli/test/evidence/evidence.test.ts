// Statements that the gateway signs for an owner, and that anyone can check.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type LockerHome, openLockerHome } from '../locker.ts'
import { jsonDocument } from '../world.ts'

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
    expect((await svc('proof', 'later.txt')).stdout).toContain('matches the path above')
    expect((await home.svc(['proof', 'later.txt', '--statement', '1'])).exitCode).toBe(1)
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
