import { errorIndex, errorPage } from '@svc/api/error-guide'
import { errorExplained, errorList } from '@svc/api/error-pages'
import * as info from '@svc/api/info'
import { openShare } from '@svc/api/shares'
import { Bytes } from '@svc/service/http/answer'
import { routerPath } from '@svc/service/http/router'
import { serve } from '@svc/service/http/serve'
import type { Service, ServiceOptions } from '@svc/service/http/service'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import type { DeclaredPage } from '../../pages/built-pages.ts'
import { discoveryDocument } from '../discovery.ts'
import { notIndexed, redirectToShared } from '../shares/visit-share.ts'
import { assetAnswer, downloadAnswer, prefersHtml, showPage, textAnswer } from './answers.ts'

export function pageRoutes(service: Service, context: Context): void {
  const { pages, config } = context
  const { baseUrl } = config.http
  const storageOrigins = () => redirectOrigins(context)
  const show = pages && showPage(pages.html, { storageOrigins })
  const savedCopy = pages?.savedCopy ?? null
  const index = () => discoveryDocument(context, savedCopy)
  serve(service, info.discovery, index)
  serve(service, info.home, ({ wire }) => (show && wantsPage(wire) ? show(wire) : index()))
  serve(service, info.docs, ({ wire }) => show?.(wire) ?? WITHOUT_PAGES)
  const explain = pages?.pages.some(({ path }) => path === errorList.path) ? show : null
  serve(service, errorList, ({ wire }) => (explain && wantsPage(wire) ? explain(wire) : errorIndex(baseUrl)))
  serve(service, errorExplained, ({ wire, params }) =>
    explain && wantsPage(wire) ? explain(wire) : errorPage(params.code, baseUrl),
  )
  const sharePage = pages?.pages.find(({ path }) => path === openShare.path)
  const showShared = pages && sharePage && showPage(pages.html, policyOf(sharePage, storageOrigins))
  serve(service, openShare, ({ params, wire }) =>
    showShared && wantsPage(wire) ? notIndexed(showShared(wire)) : redirectToShared(context, params.share_id),
  )
  if (!show) return
  const declared: readonly string[] = [info.home, info.docs, errorList, errorExplained, openShare].map(
    ({ path }) => path,
  )
  for (const page of pages.pages) {
    if (declared.includes(page.path)) continue
    const showThis = showPage(pages.html, policyOf(page, storageOrigins))
    add(service, page.path, (wire) => showThis(wire))
  }
  // The address of earlier releases, whose pages may still be built.
  if (!pages.pages.some(({ path }) => path === '/operator'))
    add(service, '/operator', () => new Bytes(308, { location: `${baseUrl}/admin` }, null))
  if (savedCopy) {
    add(service, '/verify.html', (wire) => downloadAnswer(savedCopy.asset, 'verify.html', wire))
    add(service, '/verify.html.sha256', (wire) => textAnswer(`${savedCopy.sha256}  verify.html\n`, wire))
  }
  add(service, '/assets/{name}', (wire, { name = '' }) => {
    const asset = pages.assets.get(name)
    if (!asset) throw new ServiceError('not_found', 'this page has no such file')
    return assetAnswer(asset, wire)
  })
}

function policyOf({ policy }: DeclaredPage, storageOrigins: () => readonly string[]) {
  return { ...(policy && { different: policy }), storageOrigins }
}

/** Browsers get a page for addresses that do not exist, which are the only errors that people make by typing. */
export function pageOfError({ pages }: Context): NonNullable<ServiceOptions['errorPage']> {
  const show = pages && showPage(pages.html, { storageOrigins: () => [] })
  const ofCode = routerPath(errorExplained.path)
  return (wire, { code, status }) => {
    const isMistyped = wire.route === null ? code === 'not_found' : wire.route === ofCode
    return show && isMistyped && wantsPage(wire) ? show(wire, status) : null
  }
}

function wantsPage({ method, headers }: WireRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept)
}

/** The origins that clients send bytes to and fetch them from directly (SHORT-09). */
function redirectOrigins({ config, providers }: Context): string[] {
  const origins = Object.keys(config.storage.drivers).flatMap((name) => providers.named(name).redirectsTo ?? [])
  return [...new Set(origins)]
}

const WITHOUT_PAGES =
  '<!doctype html><html lang="en"><title>API</title><p>The pages of this gateway are not built. Its interface is described in <a href="openapi.json">openapi.json</a>.'

type Show = (wire: WireRequest, params: Readonly<Record<string, string>>) => Bytes

/** Pages and their assets are not part of the interface, so they are not declared with it. */
function add(service: Service, path: string, show: Show): void {
  const route = routerPath(path)
  service.add({
    method: 'GET',
    path,
    maxBodyBytes: null,
    handle: (request) => service.sendBytes(request, route, show(request, request.params)),
  })
}
