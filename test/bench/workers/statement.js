// The floor of a report and of a use: one prepared statement on the table of counts, without authorization.
const REPORT = 'select day as date, count from daily_usage where business_id = ? and day between ? and ?';
const RECORD = `insert into daily_usage (business_id, day, count) values (?, ?, 1)
  on conflict (business_id, day) do update set count = count + 1 returning day as date, count`;

export default {
  async fetch(request, { DB }) {
    const { pathname, searchParams } = new URL(request.url);
    const id = Number(pathname.slice(pathname.lastIndexOf('/') + 1));
    const { results } = await (request.method === 'GET'
      ? DB.prepare(REPORT).bind(id, searchParams.get('from'), searchParams.get('to'))
      : DB.prepare(RECORD).bind(id, new Date().toISOString().slice(0, 10))
    ).all();
    return Response.json({ status: true, data: results });
  },
};
