import { Bytes } from '@svc/http-service/answer'
import { writeXml } from '@svc/s3/xml'

type XmlValue = Parameters<typeof writeXml>[1]

export function xmlAnswer(status: number, root: string, value: XmlValue, headers: Record<string, string> = {}): Bytes {
  const text = Buffer.from(writeXml(root, value))
  const all = { 'content-type': XML_TYPE, 'content-length': String(text.length), ...headers }
  return new Bytes(status, all, text)
}

export function emptyAnswer(status: number, headers: Record<string, string> = {}): Bytes {
  return new Bytes(status, { ...(status !== 204 && { 'content-length': '0' }), ...headers }, null)
}

export const XML_TYPE = 'application/xml'
