import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createDelegationKeys } from '../src/delegations/delegation-keys.ts'
import { webhookHeaders } from '../src/work/findings/webhook-request.ts'

type IsFromAgent = (headers: Record<string, string>, body: string, secret: string) => boolean

/** The program in docs/agent.md, as a reader copies it. */
async function documented(): Promise<IsFromAgent> {
  const page = await readFile(new URL('../../../docs/agent.md', import.meta.url), 'utf8')
  const program = /```js\n(.*?)```/s.exec(page)?.[1] ?? ''
  return (await import(`data:text/javascript,${encodeURIComponent(program)}`)).isFromAgent
}

const secret = createDelegationKeys(new Uint8Array(32).fill(1)).webhookSecretOf('dlg_1', 'https://hooks.example')
const webhook = (ageSeconds = 0) => ({
  id: 'del_1',
  timestamp: Math.floor(Date.now() / 1000) - ageSeconds,
  body: '{"type":"svc.agent.finding","finding":{"detail":"ü"}}',
})

it('AGENT-04 the program in the documentation accepts a webhook of the agent', async () => {
  const isFromAgent = await documented()
  const { body } = webhook()
  const headers = webhookHeaders(webhook(), secret)
  expect(isFromAgent(headers, body, secret)).toBe(true)
  const renewed = `v1,${'A'.repeat(43)}= ${headers['webhook-signature']}`
  expect(isFromAgent({ ...headers, 'webhook-signature': renewed }, body, secret)).toBe(true)
})

it('AGENT-04 the program in the documentation rejects changed, old and unsigned webhooks', async () => {
  const isFromAgent = await documented()
  const { body } = webhook()
  const headers = webhookHeaders(webhook(), secret)
  expect(isFromAgent(headers, `${body} `, secret)).toBe(false)
  expect(isFromAgent(headers, body, `whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(false)
  expect(isFromAgent({ ...headers, 'webhook-id': 'del_2' }, body, secret)).toBe(false)
  expect(isFromAgent(webhookHeaders(webhook(600), secret), body, secret)).toBe(false)
  expect(isFromAgent({}, body, secret)).toBe(false)
  for (const signature of ['', 'v1,', 'v1', 'é'.repeat(47), headers['webhook-signature']!.replace('v1', 'v2')])
    expect(isFromAgent({ ...headers, 'webhook-signature': signature }, body, secret), signature).toBe(false)
})
