// Fastify alone: reads a JSON body and answers with prepared bytes.

import Fastify from 'fastify'
import { reportTo } from '../server-process.ts'

/** A recorded answer of another server. */
export interface Sample {
  status: number
  headers: Record<string, string>
  body: string
}

const samples: Sample[] = JSON.parse(process.env.SAMPLES ?? '[]')
const app = Fastify({ logger: false })
for (const [i, { status, headers, body }] of samples.entries()) {
  app.post(`/${i}`, async (_request, reply) => {
    reply.code(status).headers(headers)
    return body
  })
}
reportTo(process, await app.listen({ host: '127.0.0.1', port: 0 }), () => app.close())
