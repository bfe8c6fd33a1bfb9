import { discovery } from '@svc/api/agent/info'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import { call } from '../calls/call.ts'
import type { Service } from '../context.ts'

export const agentService: Service = {
  name: 'agent service',
  async readKeys(context) {
    const { body } = await call(context, discovery)
    return [body.signing_key.public_key_hex]
  },
  signerHeaders: (address) => ({ [HEADER_IDENTITY]: address }),
}
