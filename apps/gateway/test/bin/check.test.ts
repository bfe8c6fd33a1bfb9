import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../gateway-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-check-'))
const guide = readFileSync(new URL('../../../../docs/start/admin.md', import.meta.url), 'utf8')
const [production = '', policy = ''] = [...guide.matchAll(/```ini\n(.*?)```/gs)].map(([, text]) => text)
const inFolder = (name: string) => join(folder, name)

beforeAll(() => {
  mkdirSync(inFolder('keys'))
  for (const [i, name] of ['statement', 'publication', 'short-url'].entries())
    writeFileSync(inFolder(`keys/${name}.key`), `0${i + 1}`.repeat(32), { mode: 0o600 })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Checks these settings, with `/etc/svc/keys` of the guide in the folder of this test. */
async function check(text: string) {
  const file = inFolder('gateway.env')
  writeFileSync(file, text.replaceAll('/etc/svc/keys/', inFolder('keys/')))
  return runCommand(['check', file])
}

it('CFG-02 the guide needs at most ten settings for production', async () => {
  const settings = production.split('\n').filter((line) => /^[A-Z]/.test(line))
  expect(settings.length).toBeGreaterThan(5)
  expect(settings.length).toBeLessThanOrEqual(10)
  const { code, stdout, stderr } = await check(production + policy)
  expect([code, stderr], stdout).toEqual([0, ''])
  expect(stdout).toMatch(/^must set\n.*^should look at\n.*^providers\n.*^tuning\n.*^no problems/ms)
  for (const fact of [
    /^ {2}mode +production$/m,
    /^ {2}address +https:\/\/gateway\.example,/m,
    /^ {2}sells storj +0\.25 USD/m,
    /^ {2}beyond terms +writes are rejected/m,
  ])
    expect(stdout).toMatch(fact)
  expect(stdout).toContain('all settings have their defaults')
})

it('T-12 CFG-02 svc-gateway check reports what is sold and who may act, shows no secret, and leaves nothing behind', async () => {
  const more = [
    'MONGODB=mongodb://user:SECRET-1@host/',
    'INTERNAL_SECRET=SECRET-2-SECRET-2-SECRET-2',
    'DATABASE_URL=postgres://u:SECRET-3@db.example/svc',
    'PRIMARY_RPC_URLS=https://a.example/SECRET-4,https://b.example',
    'ADMINS=anna@example.com',
    `DATA_DIR=${inFolder('data')}`,
    'CHAIN_WAIT_SECONDS=x402=5',
    'MISPELT=1',
  ]
  const { code, stdout } = await check(`${production}\n${more.join('\n')}`)
  expect(code, stdout).toBe(0)
  expect(stdout).not.toContain('SECRET-')
  for (const fact of ['PostgreSQL db.example/svc', 'anna@example.com', 'a.example, b.example', 'CHAIN_WAIT_SECONDS'])
    expect(stdout).toContain(fact)
  expect(stdout).toContain('(ignored): MISPELT')
  expect(readdirSync(folder).toSorted()).toEqual(['gateway.env', 'keys'])
})

it('CFG-02 svc-gateway check creates no keys in development', async () => {
  const { code, stdout } = await check(`SVC_MODE=development\nDATA_DIR=${inFolder('none')}`)
  expect(code, stdout).toBe(0)
  expect(readdirSync(folder).toSorted()).toEqual(['gateway.env', 'keys'])
})

it('CFG-02 svc-gateway check lists every problem with what to do, and exits with 1', async () => {
  const { code, stdout } = await check(`${production.replace(/^BASE_URL=.*$/m, '')}\nS3_DOOR=on\nPORT=a`)
  expect(code).toBe(1)
  expect(stdout).toContain('- S3_DOOR is no longer a setting: it is now called S3, with the same value')
  expect(stdout).toContain('- BASE_URL must be the public address')
  expect(stdout).toContain('- PORT must be an integer')
  expect(await runCommand(['check', inFolder('nothing.env')])).toMatchObject({ code: 1, stdout: '' })
  expect(await runCommand(['check', 'a', 'b'])).toMatchObject({ code: 2, stdout: '' })
})
