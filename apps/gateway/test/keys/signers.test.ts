import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Health } from '@svc/api/info'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { startProcess } from '@svc/devnet/start-process'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askToAttest, attest, statementsOf } from '../evidence/attest.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-signers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('ADD-38 the gateway signs with a key in a stock ssh-agent, and waits while the agent is unavailable', async () => {
  const [socket, keyFile] = [join(folder, 'agent'), join(folder, 'id_ed25519')]
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', keyFile])
  const agent = startProcess('ssh-agent', { args: ['-D', '-a', socket] })
  await expect.poll(() => existsSync(socket)).toBe(true)
  execFileSync('ssh-add', ['-q', keyFile], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' })
  const publicKey = Buffer.from((await readFile(`${keyFile}.pub`, 'utf8')).split(' ')[1] as string, 'base64')
  const hex = publicKey.subarray(-32).toString('hex')
  const instance = await openTestGateway({ STATEMENT_KEY: `ssh-agent:${socket}#public=${hex}` })
  const locker = await instance.locker(ed25519Identity())
  await locker.put('a.txt', 'one')
  const { attestation } = await attest(instance, locker)
  expect(attestation.envelope?.issuer_pubkey).toBe(hex)
  const verify = `/v1/storage/verify?receipt_id=${locker.receiptId}`
  expect((await instance.send('GET', verify)).body).toMatchObject({ verification: { signature_valid: 'passed' } })

  await agent.kill('SIGTERM')
  await locker.put('b.txt', 'two')
  const refused = await askToAttest<{ error: string }>(instance, locker)
  expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
    503,
    'signing_key_unavailable',
    '5',
  ])
  expect(await statementsOf(instance, locker)).toHaveLength(1)
  await instance.close()
})

type Behaviour = 'good' | 'lie' | 'hang' | 'fail' | 'nonsense'

it('ADD-38 T-139 an HTTP signer that lies, hangs or fails only delays statements', async () => {
  const signer = ed25519Signer(new Uint8Array(32).fill(0x52))
  let behaviour: Behaviour = 'good'
  const hanging: ServerResponse[] = []
  const asked: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    asked.push([request.headers.authorization, body.purpose])
    const message = fromHex(body.message_hex) as Uint8Array
    const signature = signer.sign(behaviour === 'lie' ? Uint8Array.of(1) : message)
    if (behaviour === 'hang') return void hanging.push(response)
    response.statusCode = behaviour === 'fail' ? 500 : 200
    response.end(behaviour === 'nonsense' ? '[' : JSON.stringify({ signature_hex: toHex(signature) }))
  })
  const socket = join(folder, 'signer')
  server.listen(socket)
  await once(server, 'listening')
  const instance = await openTestGateway({
    STATEMENT_KEY: `unix:${socket}#public=${toHex(signer.publicKey)}&token=a-token`,
  })
  const health = async () => (await instance.send<Health>('GET', '/health')).body.checks.signing_key
  const locker = await instance.locker(ed25519Identity())
  await locker.put('a.txt', 'one')
  await attest(instance, locker)
  expect(asked).toContainEqual(['Bearer a-token', 'statement'])
  expect(await health()).toBe('ok')

  await locker.put('b.txt', 'two')
  for (const bad of ['lie', 'fail', 'nonsense', 'hang'] as const) {
    behaviour = bad
    const answer = askToAttest<{ error: string }>(instance, locker)
    if (bad === 'hang') {
      await expect.poll(() => hanging.length).toBeGreaterThan(0)
      // A hanging signer locks nothing: the same locker accepts files.
      await locker.put('c.txt', 'three')
    }
    const { status, body, headers } = await answer
    expect([bad, status, body.error, headers.get('retry-after')]).toEqual([bad, 503, 'signing_key_unavailable', '5'])
  }
  behaviour = 'fail'
  instance.clock.advance(60)
  await expect.poll(health).toBe('failing')

  behaviour = 'good'
  await attest(instance, locker)
  const statements = await statementsOf(instance, locker)
  expect(statements.map(({ sequence }) => sequence)).toEqual([1, 2])
  for (const response of hanging) response.destroy()
  server.close()
  await instance.close()
})
