int cl_stub;
