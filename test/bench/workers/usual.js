// The usual implementation (d): one query per check, and a report that counts events.
export default {
  async fetch(request, { DB }) {
    const { pathname, searchParams } = new URL(request.url);
    const token = request.headers.get('Authorization')?.slice('Bearer '.length) ?? '';
    const caller = await DB.prepare('select id from businesses where token = ?').bind(token).first();
    if (caller === null) return new Response(null, { status: 401 });
    const id = Number(pathname.slice(pathname.lastIndexOf('/') + 1));
    const business = await DB.prepare('select * from businesses where id = ?').bind(id).first();
    if (business === null || business.id !== caller.id) return new Response(null, { status: 422 });
    const domains = await DB.prepare('select * from access where business_id = ?').bind(id).all();
    const origin = request.headers.get('Origin');
    if (!domains.results.some(({ site }) => site === origin)) return new Response(null, { status: 403 });
    const sql =
      'select day as date, count(*) as count from events where business_id = ? and day between ? and ? group by day';
    const { results } = await DB.prepare(sql).bind(id, searchParams.get('from'), searchParams.get('to')).all();
    return Response.json({ status: true, data: { used: results } });
  },
};
