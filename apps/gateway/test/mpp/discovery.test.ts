import { startTestGateway } from '@svc/testbed/gateway'
import { validate } from 'mppx/discovery'
import { expect, it } from 'vitest'

it('T-100 ADD-47 the interface description says how storage is paid for, as directories read it', async () => {
  const gateway = await startTestGateway()
  try {
    const document = await (await fetch(`${gateway.url}/openapi.json`)).json()
    expect(validate(document)).toEqual([])
    expect(document['x-service-info']).toMatchObject({ categories: ['storage'] })
    expect(document.paths['/v1/storage/request'].post['x-payment-info']).toEqual({
      offers: [
        { intent: 'charge', method: 'solana', amount: null },
        { intent: 'charge', method: 'evm', amount: null },
      ],
    })
  } finally {
    await gateway.stop()
  }
})
