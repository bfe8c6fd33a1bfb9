// Fastify alone: reads a body of JSON, and answers with bytes that are there already.

import Fastify from 'fastify'
import { reportTo } from '../server-process.ts'

/** An answer that another server gave. */
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
