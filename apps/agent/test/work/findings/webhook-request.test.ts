import { expect, it } from 'vitest'
import { webhookHeaders } from '../../../src/work/findings/webhook-request.ts'

it('AGENT-04 the signature of a webhook equals that of the reference libraries of Standard Webhooks', () => {
  // The example from the tests of the reference libraries.
  const webhook = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' }
  expect(webhookHeaders(webhook, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})
