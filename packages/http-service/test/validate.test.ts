import { agentEndpoints } from '@svc/api/agent/agent'
import { gatewayEndpoints } from '@svc/api/gateway'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'

const ajv = new Ajv2020({ strict: false })

it.each([...gatewayEndpoints, ...agentEndpoints])('the schemas of $name are valid and can be compiled', (endpoint) => {
  const { params, query, body, responses } = endpoint
  for (const schema of [params, query, body, ...Object.values(responses)]) {
    if (schema) expect(ajv.compile(schema)).toBeTypeOf('function')
  }
})
