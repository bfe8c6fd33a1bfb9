// A response that may take minutes. Clients and proxies close a connection that is silent for about a minute. A slow
// response therefore begins with white space, and its body reports success or failure, as in S3.

import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { writeXml } from '@svc/s3/xml'
import { Bytes } from '@svc/service/http/answer'
import type { Context } from '../../context.ts'
import { XML_TYPE, xmlAnswer } from './answers.ts'
import { asS3Error } from './errors.ts'

type XmlValue = Parameters<typeof writeXml>[1]

const SILENT_MS = 10_000
const PENDING = Symbol('later')

export async function streamXmlWithKeepAlive(
  context: Pick<Context, 'log'>,
  root: string,
  working: Promise<XmlValue>,
  silentMs = SILENT_MS,
): Promise<Bytes> {
  const first = await settledWithin(working, silentMs)
  if (first !== PENDING) return xmlAnswer(200, root, first)
  return new Bytes(200, { 'content-type': XML_TYPE }, Readable.from(pieces(context, root, working, silentMs)))
}

async function* pieces(
  context: Pick<Context, 'log'>,
  root: string,
  working: Promise<XmlValue>,
  silentMs: number,
): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n'
  try {
    for (;;) {
      const value = await settledWithin(working, silentMs)
      if (value !== PENDING) return yield withoutDeclaration(writeXml(root, value))
      yield ' '
    }
  } catch (error) {
    const refusal = asS3Error(error)
    if (!refusal) context.log.error({ err: error }, 'an S3 copy or completion failed')
    const { code, message, hint } = refusal ?? {
      code: 'InternalError',
      message: 'an internal error occurred',
      hint: null,
    }
    yield withoutDeclaration(writeXml('Error', { Code: code, Message: message, ...(hint && { Hint: hint }) }))
  }
}

const withoutDeclaration = (xml: string) => xml.slice(xml.indexOf('\n') + 1)

async function settledWithin<Value>(working: Promise<Value>, ms: number): Promise<Value | typeof PENDING> {
  const settled = new AbortController()
  const timeout = setTimeout(ms, PENDING, { signal: settled.signal }).catch(() => PENDING)
  try {
    return await Promise.race([working, timeout as Promise<typeof PENDING>])
  } finally {
    settled.abort()
  }
}
