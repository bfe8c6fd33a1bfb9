import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BytesDiffer, GatewayError, NoAnswer, PaymentError, UntrueAnswer } from '@svc/sdk/errors'
import { describe, expect, it } from 'vitest'
import { Failure, Interrupted, NotVerified, UsageError } from '../src/errors.ts'
import { describeError, report } from '../src/report.ts'
import { localHint } from '../src/setup/local-hint.ts'
import { testHost } from './host.ts'

const refusal = (hint?: string) =>
  new GatewayError(
    409,
    { error: 'attestation_not_available', message: 'none yet', request_id: 'req_1', ...(hint && { hint }) },
    null,
  )

describe('the report of an error', () => {
  it.each([
    [new Failure('x'), 1],
    [new UsageError('x'), 2],
    [new NotVerified('x'), 3],
    [new UntrueAnswer('x'), 3],
    [new BytesDiffer('a', 'b', 'c'), 3],
    [new PaymentError('not_moved', 'x'), 1],
    [new PaymentError('may_have_moved', 'x'), 4],
    [new PaymentError('moved', 'x'), 4],
    [new PaymentError('may_have_moved', 'x', { cause: new Interrupted() }), 4],
    [new PaymentError('not_moved', 'x', { cause: new Interrupted() }), 130],
    [new PaymentError('not_moved', 'x', { cause: new UsageError('x') }), 2],
    [new PaymentError('not_moved', 'x', { cause: new UntrueAnswer('x') }), 3],
    [new Interrupted(), 130],
    [new DOMException('x', 'AbortError'), 130],
    [new TypeError('x'), 1],
    [refusal(), 1],
  ])('gives for %s the exit code %i', (error, exitCode) => {
    expect(describeError(error).exitCode).toBe(exitCode)
  })

  it("shows the gateway's hint first, then the hint of svc", () => {
    expect(describeError(refusal('theirs')).hint).toMatch(/^theirs; here: .*svc attest/)
    expect(describeError(refusal()).hint).toContain('svc attest')
    const payment = new PaymentError('moved', 'paid, but none yet', { tx: 'tx1', cause: refusal('theirs') })
    expect(describeError(payment)).toMatchObject({
      message: 'paid, but none yet (payment tx1)',
      hint: expect.stringMatching(/^theirs; then run the same command again/),
    })
  })

  it('suggests checking the address when nothing or another service answers', () => {
    for (const error of [new NoAnswer('no answer'), new GatewayError(404, null, null)])
      expect(describeError(error)).toMatchObject({ exitCode: 1, hint: expect.stringContaining('--gateway') })
  })

  it('suggests NODE_USE_ENV_PROXY when a proxy is configured but unused', () => {
    const hintWith = (env: Record<string, string>) => {
      const { host, stderr } = testHost(env)
      report(host, new NoAnswer('no answer'), { json: false })
      return stderr()
    }
    expect(hintWith({ HTTPS_PROXY: 'http://proxy:3128' })).toContain('NODE_USE_ENV_PROXY=1')
    expect(hintWith({ HTTPS_PROXY: 'http://proxy:3128', NODE_USE_ENV_PROXY: '1' })).toContain('--gateway')
  })

  it.each([
    ['ENOSPC', 'the disk is full', 'free some space'],
    ['EACCES', 'you have no permission', 'change the permissions'],
    ['EROFS', 'the disk is read-only', 'another disk'],
  ])('explains the file system error %s', (code, message, hint) => {
    const error = Object.assign(new Error(`${code}: x, open '/a'`), { code })
    expect(describeError(error)).toMatchObject({
      exitCode: 1,
      code,
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    })
  })

  it.each([
    ['STORAGE_UNAVAILABLE', 503, '--wait'],
    ['EXPIRED_ENVELOPE', 403, 'svc doctor'],
    ['RATE_LIMITED', 429, 'finished work is skipped'],
    ['locker_not_found', 404, 'svc provision'],
    ['receipt_not_found', 404, 'svc lockers'],
    ['SIGNATURE_INVALID', 403, 'svc whoami'],
  ])('suggests a command after %s', (error, status, hint) => {
    expect(describeError(new GatewayError(status, { error, message: 'x', request_id: 'r' }, null)).hint).toContain(hint)
  })

  it.each([
    ['ENOTFOUND', 'check the address'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'clock'],
    ['ECONNREFUSED', 'check that it is running'],
  ])('suggests what to check after %s', (code, hint) => {
    const cause = new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) })
    expect(describeError(new NoAnswer('no answer', { cause })).hint).toContain(hint)
  })

  it('states that nothing was paid, and how to fill the wallet', () => {
    const missing = 'Fg6P needs 0.25 USDC, holds 0: 0.25 USDC is missing'
    const { message, hint } = describeError(new PaymentError('not_moved', missing))
    expect([message, hint]).toEqual([`${missing}. Nothing was paid`, expect.stringContaining('svc faucet')])
  })

  it('names the services that listen on this machine when the port of the gateway is closed', async () => {
    const error = Object.assign(new NoAnswer('no answer', { cause: { code: 'ECONNREFUSED' } }), {
      url: 'http://127.0.0.1:1',
    })

    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const services = [
      { name: 'the gateway', url: `http://127.0.0.1:${port}` },
      { name: 'the EVM chain', url: 'http://127.0.0.1:1' },
    ]
    expect(await localHint(error, services)).toBe(
      `a service listens at http://127.0.0.1:${port}: try --gateway http://127.0.0.1:${port}`,
    )
    const chain = [{ name: 'the primary chain', url: `http://127.0.0.1:${port}` }]
    expect(await localHint(error, chain)).toContain(`the primary chain (${port})`)
    server.close()
    expect(await localHint(Object.assign(error, { url: 'https://gateway.example' }), services)).toBeNull()
  })

  it("links to the gateway's page about the code, unless it is not a web address", () => {
    const reported = (docs_url: string, json: boolean) => {
      const { host, stderr } = testHost({})
      const body = { error: 'RATE_LIMITED', message: 'later', request_id: 'r', docs_url }
      report(host, new GatewayError(429, body, 1), { json })
      return stderr()
    }
    const page = 'https://gateway.example/errors/RATE_LIMITED'
    expect(reported(page, false)).toContain(`more:  ${page}\n`)
    expect(JSON.parse(reported(page, true))).toMatchObject({ error: { docs_url: page } })
    for (const other of ['javascript:alert(1)', 'https://a b', 'https://a\u001b[2J'])
      expect(reported(other, false)).not.toContain('more:')
  })

  it.each([{}, { SVC_DEBUG: '1' }])('T-06 escapes control characters in messages of the gateway: %j', (env) => {
    const { host, stderr } = testHost(env)
    const body = { error: 'x', message: '\u001b[2J\u009b2J', hint: '\u001b]0;', request_id: 'r' }
    report(host, new GatewayError(400, body, null), { json: false })
    expect(stderr()).not.toMatch(/[^\P{Cc}\n]/u)
  })
})
