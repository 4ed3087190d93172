// Floor (c): increments a counter with one prepared statement, without authorization.
const SQL = `insert into daily_usage (business_id, day, count) values (?, ?, 1)
  on conflict (business_id, day) do update set count = count + 1 returning day as date, count`;

export default {
  async fetch(request, { DB }) {
    const id = Number(request.url.slice(request.url.lastIndexOf('/') + 1));
    const { results } = await DB.prepare(SQL).bind(id, new Date().toISOString().slice(0, 10)).all();
    return Response.json({ status: true, data: results[0] });
  },
};
