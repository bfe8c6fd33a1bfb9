import { keys as keysEndpoint } from '@svc/api/info'
import { call } from './calls/call.ts'
import type { Service } from './context.ts'

export const gatewayService: Service = {
  name: 'gateway',
  async readKeys(context) {
    const { body } = await call(context, keysEndpoint)
    return body.keys.map(({ public_key_hex }) => public_key_hex)
  },
  signerHeaders: () => ({}),
}
